import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from '../kit/fleet.ts'

export const RULES = join(ROOT, 'deploy', 'prometheus', 'alerts.yml')
const DASHBOARD = join(ROOT, 'deploy', 'grafana', 'flotilla.json')

export interface Query {
  /** The panel or the alert. */
  of: string
  expr: string
  /** Labels that its texts show. */
  shown: string[]
}

interface Panel {
  title: string
  targets?: { expr: string; legendFormat?: string }[]
}
interface Rule {
  alert: string
  expr: string
  annotations: Record<string, string>
}

/** What the dashboard asks, with its variables replaced as Grafana would. */
export function dashboardQueries(): Query[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: Panel[] }
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat = '' }) => ({
      of: title,
      expr: expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m'),
      shown: Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, label]) => label!),
    })),
  )
}

export function alertQueries(): Query[] {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] }
  return groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr, annotations }) => ({
      of: alert,
      expr,
      shown: Array.from(JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g), ([, label]) => label!),
    })),
  )
}

export interface Selector {
  name: string
  matchers: { label: string; operator: string; value: string }[]
}

const WORDS = new Set(['by', 'on', 'and', 'or', 'unless', 'without', 'ignoring', 'bool', 'offset', 'group_left'])

/** The metrics that an expression reads, with what it wants of their labels. */
export function selectorsIn(expr: string): Selector[] {
  const flat = expr.replace(/\b(by|on|without|ignoring)\s*\([^)]*\)/g, ' ').replace(/\[[^\]]*\]/g, '')
  const pattern = /([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(\s*\()?/g
  return Array.from(flat.matchAll(pattern))
    .filter(([, name, , call]) => !call && !WORDS.has(name!))
    .map(([, name, braces = '']) => ({
      name: name!,
      matchers: Array.from(braces.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g), ([, label, operator, value]) => ({
        label: label!,
        operator: operator!,
        value: value!,
      })),
    }))
}

/** The labels by which an expression groups. */
export const groupedBy = (expr: string): string[] =>
  Array.from(expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g), ([, labels]) =>
    labels!.split(',').map(each => each.trim()),
  ).flat()
