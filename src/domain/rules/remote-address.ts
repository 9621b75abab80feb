/** The page of a branch at GitHub or GitLab, from the address that git pushes to. Null: it is at neither. */
export function branchPage(address: string, branch: string): string | null {
  const { host, path } = placeOf(address) ?? {}
  if (!host || !path) return null
  const shown = branch.split('/').map(encodeURIComponent).join('/')
  if (isAt(host, 'github')) return `https://${host}/${path}/tree/${shown}`
  return isAt(host, 'gitlab') ? `https://${host}/${path}/-/tree/${shown}` : null
}

/** github.com, or a server of their own such as github.example.org. */
const isAt = (host: string, service: string): boolean => host === `${service}.com` || host.startsWith(`${service}.`)

function placeOf(address: string): { host: string; path: string } | undefined {
  const short = /^[\w.-]+@([\w.-]+):(?!\/\/)([\w./~-]+)$/.exec(address)
  const long = /^(?:https?|ssh|git):\/\/(?:[^/@]*@)?([\w.-]+)(?::\d+)?\/([\w./~-]+)$/.exec(address)
  const [, host, path] = short ?? long ?? []
  const clean = path?.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')
  return host && clean && !clean.split('/').includes('..') ? { host: host.toLowerCase(), path: clean } : undefined
}
