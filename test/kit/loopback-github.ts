import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { runGit, type TestRepository } from '../../src/git/testkit.ts'

const HOST = 'github.test'
const NAME = 'us/ours'

interface Pull {
  number: number
  state: 'OPEN' | 'MERGED' | 'CLOSED'
  head: string
  base: string
  title: string
  body: string
  headRefOid: string
  mergeCommit: { oid: string } | null
}
interface CheckRun {
  name: string
  status: 'COMPLETED' | 'IN_PROGRESS'
  conclusion: string
  detailsUrl: string
}
interface Asked {
  query: string
  variables: Record<string, never> & { input?: Record<string, string> }
}

/** Why the real gh cannot be tried here; undefined: it can. */
export function withoutGh(): string | undefined {
  for (const [tool, flag] of Object.entries({ gh: '--version', openssl: 'version' }))
    try {
      execFileSync(tool, [flag], { stdio: 'ignore' })
    } catch {
      return `${tool} is not installed`
    }
}

/**
 * GitHub as the real gh and git see it: GraphQL and git over HTTPS, on loopback with a certificate of its own. Both
 * reach it through a proxy, because gh allows no port in the address of a repository.
 */
export async function aLoopbackGitHub(repo: TestRepository, folder: string) {
  mkdirSync(folder, { recursive: true })
  const bare = join(folder, 'repositories', `${NAME}.git`)
  await runGit(folder, ['clone', '--quiet', '--bare', repo.path, bare])
  await runGit(bare, ['config', 'http.receivepack', 'true'])
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`, '-days', '2', '-nodes']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })

  const pulls: Pull[] = []
  const asked: Asked[] = []
  let checks: CheckRun[] = []
  let offline = false
  const git = (...args: string[]) => runGit(bare, args)

  const shown = async (pull: Pull) => ({
    ...pull,
    id: `PR_${pull.number}`,
    url: `https://${HOST}/${NAME}/pull/${pull.number}`,
    headRefOid: pull.state === 'OPEN' ? await git('rev-parse', `refs/heads/${pull.head}`) : pull.headRefOid,
    headRefName: pull.head,
    baseRefName: pull.base,
    isCrossRepository: false,
    reviewDecision: '',
    mergeable: 'MERGEABLE',
    mergeStateStatus: 'CLEAN',
    headRepositoryOwner: { id: 'us', login: 'us' },
    statusCheckRollup: {
      nodes: [
        {
          commit: {
            statusCheckRollup: {
              contexts: {
                nodes: checks.map(each => ({ __typename: 'CheckRun', ...each })),
                pageInfo: { hasNextPage: false },
              },
            },
          },
        },
      ],
    },
  })

  /** Merges like GitHub's button, if the branch is still where the caller saw it. */
  const merge = async (input: Record<string, string>): Promise<object> => {
    const pull = pulls.find(({ number }) => `PR_${number}` === input.pullRequestId)!
    const head = await git('rev-parse', `refs/heads/${pull.head}`)
    if (input.expectedHeadOid && input.expectedHeadOid !== head)
      return { errors: [{ message: 'Head branch was modified. Review and try the merge again.' }] }
    const tree = await git('merge-tree', '--write-tree', pull.base, pull.head)
    const who = ['-c', 'user.name=GitHub', '-c', 'user.email=noreply@github.test']
    const message = [`${pull.title} (#${pull.number})`, await git('log', '-1', '--format=%(trailers)', head)].join(
      '\n\n',
    )
    const oid = await git(...who, 'commit-tree', tree, '-p', pull.base, '-m', message)
    await git('update-ref', `refs/heads/${pull.base}`, oid)
    Object.assign(pull, { state: 'MERGED', mergeCommit: { oid }, headRefOid: head })
    return { data: { mergePullRequest: { clientMutationId: '' } } }
  }

  const answer = async ({ query, variables }: Asked): Promise<object> => {
    const input = variables?.input ?? {}
    if (query.includes('__type(')) return { data: { PullRequest: { fields: [] } } }
    if (query.includes('mutation PullRequestMerge')) return merge(input)
    if (query.includes('mutation PullRequestCreate')) {
      const number = pulls.length + 1
      const head = input.headRefName!
      pulls.push({
        ...{ number, state: 'OPEN', head, base: input.baseRefName!, title: input.title!, body: input.body! },
        ...{ headRefOid: await git('rev-parse', head), mergeCommit: null },
      })
      const pullRequest = { id: `PR_${number}`, url: `https://${HOST}/${NAME}/pull/${number}` }
      return { data: { createPullRequest: { pullRequest } } }
    }
    const head = (variables as { headBranch?: string; headRefName?: string }).headBranch ?? variables.headRefName
    const states = ((variables as { state?: string[]; states?: string[] }).state ?? variables.states) as unknown as
      | string[]
      | undefined
    const number = (variables as { pr_number?: number }).pr_number
    const nodes = await Promise.all(
      pulls.filter(pull => pull.head === head && (states?.includes(pull.state) ?? true)).map(shown),
    )
    const one = pulls.find(pull => pull.number === number)
    return {
      data: {
        repository: {
          ...{ id: 'R_1', name: 'ours', owner: { login: 'us' }, viewerPermission: 'WRITE' },
          ...{ mergeCommitAllowed: true, rebaseMergeAllowed: true, squashMergeAllowed: true },
          defaultBranchRef: { name: 'main' },
          pullRequests: { totalCount: nodes.length, nodes, pageInfo: { hasNextPage: false } },
          pullRequest: one ? await shown(one) : null,
        },
      },
    }
  }

  const web = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, async (request, response) => {
    if (!request.url!.startsWith('/api/')) return throughGit(join(folder, 'repositories'), request, response)
    const body = await textOf(request)
    asked.push(JSON.parse(body) as Asked)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(await answer(asked.at(-1)!)))
  })
  const proxy = createServer((_, response) => void response.writeHead(501).end())
  proxy.on('connect', (request, socket) => {
    if (offline || request.url !== `${HOST}:443`) return void socket.destroy()
    const there = connect((web.address() as AddressInfo).port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      there.pipe(socket).pipe(there)
    })
    for (const each of [there, socket]) each.on('error', () => each.destroy())
  })
  await Promise.all([web, proxy].map(listening))
  onTestFinished(async () => {
    for (const server of [web, proxy]) {
      server.closeAllConnections()
      server.close()
    }
  })

  await repo.git('remote', 'add', 'origin', `https://${HOST}/${NAME}.git`)
  await repo.git('config', 'http.sslCAInfo', cert)
  return {
    git,
    pulls,
    asked,
    setChecks: (next: CheckRun[]) => {
      checks = next
    },
    setOffline: (is: boolean) => {
      offline = is
    },
    /**
     * Lets gh and git find it, signed in with a token that nobody checks. It is another each time, because gh remembers
     * some answers for a day, by token.
     */
    env: {
      ...{
        GH_HOST: HOST,
        GH_ENTERPRISE_TOKEN: `dummy-${randomUUID()}`,
        GH_CONFIG_DIR: join(folder, 'gh'),
        SSL_CERT_FILE: cert,
      },
      HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    },
  }
}

const listening = (server: Server): Promise<void> =>
  new Promise(done => void server.listen(0, '127.0.0.1', () => done()))

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

/** Git over HTTP as git itself serves it. */
function throughGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url!, 'http://x')
  const child = spawn('git', ['http-backend'], {
    env: {
      ...{ PATH: process.env.PATH, GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: '1', REMOTE_USER: 'us' },
      ...{ REQUEST_METHOD: request.method, PATH_INFO: pathname, QUERY_STRING: search.slice(1) },
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  request.pipe(child.stdin)
  const parts: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => parts.push(part))
  child.on('close', () => {
    const output = Buffer.concat(parts)
    const end = output.indexOf('\r\n\r\n')
    const headers = output.subarray(0, end).toString('latin1').split('\r\n')
    for (const header of headers) {
      const [name, value] = [header.slice(0, header.indexOf(':')), header.slice(header.indexOf(':') + 1).trim()]
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
      else response.setHeader(name, value)
    }
    response.end(output.subarray(end + 4))
  })
}
