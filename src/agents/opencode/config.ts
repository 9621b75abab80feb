import { homedir } from 'node:os'
import { join } from 'node:path'
import { spansOf } from '../../install/json-spans.ts'
import { textOf } from '../../platform/whole-files.ts'
import type { Environment } from '../adapter.ts'
import { number, object, parseObject, text } from '../json.ts'

/**
 * The context window of a model, from the person's OpenCode: its configuration, or the list of models it keeps. The
 * client reports neither this nor, while it works, the model.
 */
export function opencodeWindow(model: string | null, environment: Environment): number | null {
  const configurations = configurationFiles(environment).map(valueIn).reverse()
  const asked = model ?? configurations.map(each => text(each.model)).find(Boolean)
  if (!asked?.includes('/')) return null
  const provider = asked.slice(0, asked.indexOf('/'))
  const name = asked.slice(provider.length + 1)
  const listed = valueIn(join(folderOf(environment, 'XDG_CACHE_HOME', '.cache'), 'models.json'))
  const providers = [...configurations.map(each => object(each.provider)), listed]
  const windows = providers.map(each => {
    const models = object(object(each?.[provider])?.models)
    return number(object(object(models?.[name])?.limit)?.context)
  })
  return windows.find(window => window > 0) ?? null
}

/** The order in which the client reads them. A later file overrides an earlier one. */
function configurationFiles(environment: Environment): string[] {
  const own = folderOf(environment, 'XDG_CONFIG_HOME', '.config')
  const names = ['config.json', 'opencode.json', 'opencode.jsonc']
  const { OPENCODE_CONFIG: file, OPENCODE_CONFIG_DIR: folder } = environment
  return [
    ...names.map(name => join(own, name)),
    ...(file ? [file] : []),
    ...(folder ? names.slice(1).map(name => join(folder, name)) : []),
  ]
}

const folderOf = (environment: Environment, variable: string, otherwise: string): string =>
  join(environment[variable] || join(environment.HOME || homedir(), otherwise), 'opencode')

/** The client itself reports a broken file. Here it counts as empty. */
function valueIn(file: string): Record<string, unknown> {
  try {
    const written = textOf(file) ?? ''
    return parseObject(written) ?? object(spansOf(written)?.value) ?? {}
  } catch {
    return {}
  }
}
