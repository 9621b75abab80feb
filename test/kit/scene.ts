import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { aRepository, type RepositoryOptions, type TestRepository } from '../../src/git/testkit.ts'
import { aFleet, type TestFleet } from './fleet.ts'

export interface Scene {
  fleet: TestFleet
  repo: TestRepository
  project: { id: string }
  /** Another repository. */
  repository(options?: RepositoryOptions): Promise<TestRepository>
  /** Holds agents until the test lets them continue. */
  gate(name: string): Gate
}

export interface Gate {
  /** A script line that reports its arrival, then waits. */
  wait: string
  reached(): boolean
  open(): void
}

export interface SceneOptions {
  env?: Record<string, string>
  repository?: RepositoryOptions
  project?: object
  /** false: the server is not started yet. */
  start?: boolean
}

/** A running fleet with one project. It is removed when the test ends, or when `whenOver` says so. */
export async function aScene(
  options: SceneOptions = {},
  whenOver: (clean: () => Promise<void>) => void = onTestFinished,
): Promise<Scene> {
  const fleet = await aFleet({ env: options.env })
  const repositories: TestRepository[] = []
  // The server first: it may still be cleaning up in them.
  whenOver(async () => {
    await fleet.remove()
    for (const each of repositories) await each.remove()
  })
  const repository = async (wanted?: RepositoryOptions) => {
    repositories.push(await aRepository(wanted))
    return repositories.at(-1)!
  }
  const repo = await repository(options.repository)
  if (options.start !== false) await fleet.start()
  const project = await fleet.project(repo.path, options.project)
  return { fleet, repo, project, repository, gate: name => gateIn(join(fleet.root, 'gates'), name) }
}

function gateIn(folder: string, name: string): Gate {
  mkdirSync(folder, { recursive: true })
  const [here, open] = [join(folder, `${name}.here`), join(folder, `${name}.open`)]
  return {
    wait: `: > '${here}'; until [ -e '${open}' ]; do sleep 0.02; done`,
    reached: () => existsSync(here),
    open: () => writeFileSync(open, ''),
  }
}
