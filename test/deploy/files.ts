import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from '../kit/fleet.ts'

export const read = (file: string): string => readFileSync(join(ROOT, 'deploy', file), 'utf8')

export interface Compose {
  services: Record<'fleet' | 'postgres', Service>
  secrets: Record<string, { file: string }>
  volumes: Record<string, unknown>
}

interface Service {
  build?: { context: string; dockerfile: string }
  hostname?: string
  command: string[]
  environment: Record<string, string>
  secrets: string[]
  ports: string[]
  volumes: string[]
}

export const compose = (): Compose => parse(read('compose.yaml'))

export interface StatefulSet {
  spec: {
    replicas: number
    serviceName: string
    selector: { matchLabels: Record<string, string> }
    template: { metadata: { labels: Record<string, string> }; spec: PodSpec }
    volumeClaimTemplates: { metadata: { name: string } }[]
  }
}

interface PodSpec {
  securityContext: Record<string, unknown>
  containers: [Container]
  volumes: { name: string; secret?: { secretName: string }; emptyDir?: object }[]
}

interface Container {
  args: string[]
  env: { name: string; value: string }[]
  ports: { name: string; containerPort: number }[]
  startupProbe: Probe
  readinessProbe: Probe
  livenessProbe: Probe
  securityContext: { readOnlyRootFilesystem: boolean }
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[]
}

interface Probe {
  httpGet: { path: string; port: string }
}

export interface KubernetesService {
  metadata: { name: string }
  spec: { selector: Record<string, string>; ports: { port: number; targetPort: string }[] }
}

export const statefulSet = (): StatefulSet => parse(read('kubernetes/stateful-set.yaml'))

export const probesOf = ({ startupProbe, readinessProbe, livenessProbe }: Container): Probe[] => [
  startupProbe,
  readinessProbe,
  livenessProbe,
]

/** What follows an instruction of the Dockerfile, each time. */
export const instructions = (name: string): string[] =>
  Array.from(
    read('Dockerfile')
      .replaceAll('\\\n', '')
      .matchAll(new RegExp(`^${name} (.*)$`, 'gm')),
    ([, rest]) => rest!,
  )

export const GUIDE = readFileSync(join(ROOT, 'docs/guides/containers.md'), 'utf8')

/** Blocks of the guide, by their language. */
export const blocksOfTheGuide = (language: string): string[] =>
  Array.from(GUIDE.matchAll(/^```(\w+)[^\n]*\n(.*?)^```$/gms)).flatMap(([, named, text]) =>
    named === language ? [text!] : [],
  )
