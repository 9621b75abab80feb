import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Format, Item } from './document.ts'
import { json } from './json-format.ts'
import { type ClientName, SERVER, TOKEN_VARIABLE } from './names.ts'
import { toml } from './toml-format.ts'

export const SCOPES = ['user', 'project'] as const
export type Scope = (typeof SCOPES)[number]

/** The folders of a person: their home, the top of the project, and the variables that clients use. */
export interface ClientFolders {
  user: string
  project: string
  env: NodeJS.ProcessEnv
}

/** A command to start, or an address. */
export type Reach = { command: string; args: string[] } | { url: string }

type FileIn = (folders: ClientFolders) => string

/** How to add a server to one MCP client, in the client's own form. */
export interface McpClient {
  name: ClientName
  title: string
  /** Its program, and for an editor the folder that it makes: its program is often not on the PATH. */
  program: string
  folder?: FileIn
  format: Format
  files: Partial<Record<Scope, FileIn>>
  /** The keys that lead to the servers. */
  servers: readonly string[]
  entry(reach: Reach): object
  /** Lets the client call every tool of the server without asking; `cannot`: no file can allow that. */
  allow: { inEntry(tools: readonly string[]): object } | { rules: Rules } | { cannot: string }
  /** Where it looks for skills. */
  skills: Partial<Record<Scope, FileIn>>
  /** The command that shows a person that it works. */
  check: string
  /** What else a person should know once this was allowed. */
  allowed?: string
}

type Rules = Partial<Record<Scope, (folders: ClientFolders) => { file: string; items: Item[] }>>

const orElse = (value: string | undefined, otherwise: string): string => value || otherwise
const bearer = (reference: string) => ({ Authorization: `Bearer ${reference}` })
const element = (path: string[], value: string): Item => ({ path, value, element: true })

const claudeFolder: FileIn = ({ user, env }) => orElse(env.CLAUDE_CONFIG_DIR, join(user, '.claude'))
const opencodeFolder: FileIn = ({ user, env }) => join(orElse(env.XDG_CONFIG_HOME, join(user, '.config')), 'opencode')
const openclawFolder: FileIn = ({ user, env }) => orElse(env.OPENCLAW_STATE_DIR, join(user, '.openclaw'))
const geminiFolder: FileIn = ({ user, env }) => join(orElse(env.GEMINI_CLI_HOME, user), '.gemini')

const codexFolder: FileIn = ({ user, env }) => orElse(env.CODEX_HOME, join(user, '.codex'))

/** OpenCode reads both; the existing one is used. */
const opencodeFile = (folder: string): string =>
  [join(folder, 'opencode.jsonc'), join(folder, 'opencode.json')].find(existsSync) ?? join(folder, 'opencode.json')

/** Where clients keep what is about a person. */
export const clientFolders = {
  claude: claudeFolder,
  codex: codexFolder,
  gemini: geminiFolder,
  opencodeFile: (folders: ClientFolders) => opencodeFile(opencodeFolder(folders)),
}

export const CLIENTS: readonly McpClient[] = [
  {
    name: 'claude',
    title: 'Claude Code',
    program: 'claude',
    format: json,
    files: {
      user: ({ user, env }) => join(orElse(env.CLAUDE_CONFIG_DIR, user), '.claude.json'),
      project: ({ project }) => join(project, '.mcp.json'),
    },
    servers: ['mcpServers'],
    entry: reach =>
      'url' in reach
        ? { type: 'http', url: reach.url, headers: bearer(`\${${TOKEN_VARIABLE}}`) }
        : { type: 'stdio', ...reach },
    allow: {
      rules: {
        user: folders => ({
          file: join(claudeFolder(folders), 'settings.json'),
          items: [element(['permissions', 'allow'], `mcp__${SERVER}__*`)],
        }),
        // This file is not shared, so a person allows it only for themselves.
        project: ({ project }) => ({
          file: join(project, '.claude', 'settings.local.json'),
          items: [element(['permissions', 'allow'], `mcp__${SERVER}__*`), element(['enabledMcpjsonServers'], SERVER)],
        }),
      },
    },
    skills: {
      user: folders => join(claudeFolder(folders), 'skills'),
      project: ({ project }) => join(project, '.claude', 'skills'),
    },
    check: 'claude mcp get flotilla',
  },
  {
    name: 'cursor',
    title: 'Cursor',
    program: 'cursor',
    folder: ({ user }) => join(user, '.cursor'),
    format: json,
    files: {
      user: ({ user }) => join(user, '.cursor', 'mcp.json'),
      project: ({ project }) => join(project, '.cursor', 'mcp.json'),
    },
    servers: ['mcpServers'],
    entry: reach =>
      'url' in reach ? { url: reach.url, headers: bearer(`\${env:${TOKEN_VARIABLE}}`) } : { type: 'stdio', ...reach },
    allow: {
      rules: {
        user: ({ user }) => ({
          file: join(user, '.cursor', 'permissions.json'),
          items: [element(['mcpAllowlist'], `${SERVER}:*`)],
        }),
        project: ({ project }) => ({
          file: join(project, '.cursor', 'permissions.json'),
          items: [element(['mcpAllowlist'], `${SERVER}:*`)],
        }),
      },
    },
    allowed: 'From now on Cursor takes the list of allowed MCP tools from this file and not from its settings page.',
    skills: {
      user: ({ user }) => join(user, '.cursor', 'skills'),
      project: ({ project }) => join(project, '.cursor', 'skills'),
    },
    check: 'Cursor Settings, MCP',
  },
  {
    name: 'windsurf',
    title: 'Windsurf',
    program: 'windsurf',
    folder: ({ user }) => join(user, '.codeium', 'windsurf'),
    format: json,
    files: { user: ({ user }) => join(user, '.codeium', 'windsurf', 'mcp_config.json') },
    servers: ['mcpServers'],
    entry: reach =>
      'url' in reach ? { serverUrl: reach.url, headers: bearer(`\${env:${TOKEN_VARIABLE}}`) } : { ...reach },
    allow: { cannot: 'Windsurf has no file for it: allow the tools when Cascade first asks' },
    skills: { user: ({ user }) => join(user, '.codeium', 'windsurf', 'skills') },
    check: 'Windsurf Settings, Cascade, MCP Servers',
  },
  {
    name: 'cline',
    title: 'Cline',
    program: 'cline',
    folder: ({ user }) => join(user, '.cline'),
    format: json,
    files: {
      user: ({ user, env }) =>
        orElse(env.CLINE_MCP_SETTINGS_PATH, join(user, '.cline', 'data', 'settings', 'cline_mcp_settings.json')),
    },
    servers: ['mcpServers'],
    entry: reach =>
      'url' in reach
        ? { type: 'streamableHttp', url: reach.url, headers: bearer(`\${env:${TOKEN_VARIABLE}}`) }
        : { ...reach },
    allow: { inEntry: tools => ({ autoApprove: [...tools] }) },
    skills: { user: ({ user }) => join(user, '.cline', 'skills') },
    check: 'MCP Servers, Configure',
  },
  {
    name: 'openclaw',
    title: 'OpenClaw',
    program: 'openclaw',
    format: json,
    files: {
      user: folders => orElse(folders.env.OPENCLAW_CONFIG_PATH, join(openclawFolder(folders), 'openclaw.json')),
    },
    servers: ['mcp', 'servers'],
    entry: reach =>
      'url' in reach
        ? { url: reach.url, transport: 'streamable-http', headers: bearer(`\${${TOKEN_VARIABLE}}`) }
        : { ...reach },
    allow: {
      cannot: 'OpenClaw offers the tools of its servers under the tool profiles coding and messaging without asking',
    },
    skills: { user: folders => join(openclawFolder(folders), 'skills') },
    check: 'openclaw mcp doctor flotilla --probe',
  },
  {
    name: 'codex',
    title: 'Codex',
    program: 'codex',
    format: toml,
    files: {
      user: folders => join(codexFolder(folders), 'config.toml'),
      project: ({ project }) => join(project, '.codex', 'config.toml'),
    },
    servers: ['mcp_servers'],
    entry: reach => ('url' in reach ? { url: reach.url, bearer_token_env_var: TOKEN_VARIABLE } : { ...reach }),
    allow: { inEntry: () => ({ default_tools_approval_mode: 'approve' }) },
    skills: {
      user: ({ user }) => join(user, '.agents', 'skills'),
      project: ({ project }) => join(project, '.agents', 'skills'),
    },
    check: 'codex mcp get flotilla',
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    program: 'gemini',
    format: json,
    files: {
      user: folders => join(geminiFolder(folders), 'settings.json'),
      project: ({ project }) => join(project, '.gemini', 'settings.json'),
    },
    servers: ['mcpServers'],
    entry: reach => ('url' in reach ? { httpUrl: reach.url, headers: bearer(`\${${TOKEN_VARIABLE}}`) } : { ...reach }),
    allow: { inEntry: () => ({ trust: true }) },
    skills: {
      user: folders => join(geminiFolder(folders), 'skills'),
      project: ({ project }) => join(project, '.gemini', 'skills'),
    },
    check: 'gemini mcp list',
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    program: 'opencode',
    format: json,
    files: { user: folders => opencodeFile(opencodeFolder(folders)), project: ({ project }) => opencodeFile(project) },
    servers: ['mcp'],
    entry: reach =>
      'url' in reach
        ? { type: 'remote', url: reach.url, oauth: false, headers: bearer(`{env:${TOKEN_VARIABLE}}`) }
        : { type: 'local', command: [reach.command, ...reach.args] },
    allow: {
      rules: {
        user: folders => ({ file: opencodeFile(opencodeFolder(folders)), items: [opencodeRule] }),
        project: ({ project }) => ({ file: opencodeFile(project), items: [opencodeRule] }),
      },
    },
    skills: {
      user: folders => join(opencodeFolder(folders), 'skills'),
      project: ({ project }) => join(project, '.opencode', 'skills'),
    },
    check: 'opencode mcp list',
  },
]

/** The last rule that matches decides, so this one must come after the others, where new ones are added. */
const opencodeRule: Item = { path: ['permission', `${SERVER}_*`], value: 'allow' }
