import { createHash, randomBytes } from 'node:crypto'
import { Forbidden, Unauthorized, Unfit, Unreachable } from '../../domain/errors.ts'
import type { DeviceKey } from '../../domain/records/device.ts'
import type { Principal } from '../../domain/records/principal.ts'
import { groupsIn } from '../../domain/rules/groups.ts'
import { clipped } from '../../domain/text.ts'
import { safeLine } from '../../platform/safe-text.ts'
import { textOf } from '../../platform/whole-files.ts'
import type { Fleet } from '../fleet.ts'
import type { Provided } from './provided.ts'
import type { Configuration } from './sign-in-libraries.ts'

const BEGUN_LASTS_MS = 10 * 60_000
/** More than these are no people. The oldest ends. */
const MOST_BEGUN = 1000
const DISCOVERED_LASTS_MS = 3600_000
const NAME_CHARS = 60
/** The variable with the client secret. It is for the server only, so it is not in the environment of a fleet. */
export const PROVIDER_SECRET = 'FLEET_OIDC_CLIENT_SECRET'

interface Begun {
  /** Of the browser that began. Only that one can finish. */
  key: DeviceKey
  verifier: string
  nonce: string
  redirect: string
  untilMs: number
}

export const hasProvider = ({ settings }: Fleet): boolean =>
  settings.oidcIssuer !== null && settings.oidcClientId !== null

export const isProviderOnly = (fleet: Fleet): boolean => fleet.settings.signInWith === 'provider' && hasProvider(fleet)

/** With the provider only, whom it does not know is let in neither by a password nor by a link. */
export function requireProvided(fleet: Fleet, person: Pick<Principal, 'provider'>, by: string): void {
  if (isProviderOnly(fleet) && person.provider === null)
    throw new Forbidden(`People sign in here with ${fleet.settings.oidcName}, not with ${by}.`, {
      try: 'The owner signs in with fleet open on the machine of the server.',
    })
}

/** What a browser signs to finish. */
export const finishText = (home: string, state: string, search: string): string =>
  ['fleet-provider', home, state, search].join('\n')

const unknown = (): Unauthorized =>
  new Unauthorized('This sign-in was not begun in this browser, was used, or took too long.', { try: 'Begin again.' })

/**
 * Signs people in with OpenID Connect: authorization code with PKCE, state and nonce. What is under way is in memory
 * only; after a restart a person begins again.
 */
export class Provider {
  readonly #fleet: Fleet
  readonly #begun = new Map<string, Begun>()
  #discovered: { of: string; atMs: number; configuration: Promise<Configuration> } | undefined

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  /** The address of the provider to which the browser goes. */
  async begin(key: DeviceKey, redirect: string): Promise<{ url: string; state: string }> {
    const configuration = await this.#configuration()
    const { buildAuthorizationUrl } = await import('./sign-in-libraries.ts')
    const [state, nonce, verifier] = [secret(), secret(), secret()]
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: redirect,
      scope: scopesOf(configuration),
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...{ state, nonce },
    })
    const now = Date.parse(this.#fleet.now())
    for (const [each, { untilMs }] of this.#begun) if (untilMs <= now) this.#begun.delete(each)
    const [oldest] = this.#begun.size >= MOST_BEGUN ? this.#begun.keys() : []
    if (oldest) this.#begun.delete(oldest)
    this.#begun.set(state, { key, verifier, nonce, redirect, untilMs: now + BEGUN_LASTS_MS })
    return { url: url.href, state }
  }

  /** Who it is, and the key of their browser. `search`: what the provider added to our address. */
  async finish(
    search: string,
    isSignedBy: (key: DeviceKey, text: string) => boolean,
  ): Promise<{ key: DeviceKey; provided: Provided }> {
    const state = new URLSearchParams(search).get('state') ?? ''
    const begun = this.#begun.get(state)
    if (!begun || begun.untilMs <= Date.parse(this.#fleet.now())) throw unknown()
    if (!isSignedBy(begun.key, finishText(this.#fleet.home.id, state, search))) throw unknown()
    // Whatever comes of it, it is over.
    this.#begun.delete(state)
    return { key: begun.key, provided: await this.#provided(begun, state, search) }
  }

  async #provided({ verifier, nonce, redirect }: Begun, state: string, search: string): Promise<Provided> {
    const { authorizationCodeGrant, fetchUserInfo } = await import('./sign-in-libraries.ts')
    const configuration = await this.#configuration()
    const { oidcGroupsClaim } = this.#fleet.settings
    try {
      const tokens = await authorizationCodeGrant(configuration, new URL(`${redirect}?${search}`), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const claims = tokens.claims()!
      // Many providers put groups only into what they say about a person when they are asked.
      const more =
        claims[oidcGroupsClaim] === undefined && configuration.serverMetadata().userinfo_endpoint
          ? await fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : {}
      const told: Record<string, unknown> = { ...more, ...claims }
      return {
        issuer: claims.iss,
        subject: claims.sub,
        name: [told.preferred_username, told.name, told.email, claims.sub].map(asName).find(Boolean) ?? 'somebody',
        groups: groupsIn(told[oidcGroupsClaim]),
      }
    } catch (cause) {
      if ((cause as { error?: unknown }).error === 'access_denied')
        throw new Unauthorized('Your provider did not sign you in, or you did not allow it.', { cause })
      throw new Unauthorized('What the provider answered does not prove who you are.', { try: 'Begin again.', cause })
    }
  }

  async #configuration(): Promise<Configuration> {
    const { oidcIssuer, oidcClientId, oidcClientSecretFile } = this.#fleet.settings
    if (!oidcIssuer || !oidcClientId) throw new Forbidden('No provider is set up here.', { try: 'fleet config show' })
    const issuer = requireSafe(oidcIssuer)
    const clientSecret = oidcClientSecretFile
      ? (textOf(oidcClientSecretFile) ?? missing(oidcClientSecretFile)).trim()
      : process.env[PROVIDER_SECRET]
    const of = JSON.stringify([oidcIssuer, oidcClientId, clientSecret])
    const now = Date.parse(this.#fleet.now())
    const known = this.#discovered
    if (known?.of === of && now - known.atMs < DISCOVERED_LASTS_MS) return known.configuration
    const configuration = discovered(issuer, oidcClientId, clientSecret)
    this.#discovered = { of, atMs: now, configuration }
    // The next person tries again.
    configuration.catch(() => {
      this.#discovered = undefined
    })
    return configuration
  }
}

/** One line as it looks: whoever looks like somebody else gets a number behind the name. */
const asName = (told: unknown): string =>
  clipped(
    safeLine(
      String(told ?? '')
        .normalize('NFKC')
        .replace(/\p{Default_Ignorable_Code_Point}/gu, ''),
    ).trim(),
    NAME_CHARS,
  )

const secret = (): string => randomBytes(32).toString('base64url')

async function discovered(issuer: URL, clientId: string, clientSecret: string | undefined): Promise<Configuration> {
  const libraries = await import('./sign-in-libraries.ts')
  const { discovery, allowInsecureRequests, enableNonRepudiationChecks, ClientSecretPost, None } = libraries
  const authentication = clientSecret ? ClientSecretPost(clientSecret) : None()
  // By default the library trusts the connection to the provider and does not verify its signature.
  const execute = [enableNonRepudiationChecks, ...(issuer.protocol === 'http:' ? [allowInsecureRequests] : [])]
  return discovery(issuer, clientId, {}, authentication, { execute }).catch(cause => {
    throw new Unreachable(`The provider at ${issuer.origin} cannot be reached, or is none.`, {
      try: 'Sign in with a link, or tell an owner of this fleet.',
      cause,
    })
  })
}

/** Only what the provider offers: some refuse a scope that they do not know. */
function scopesOf(configuration: Configuration): string {
  const offered = configuration.serverMetadata().scopes_supported ?? []
  return ['openid', ...['profile', 'email', 'groups'].filter(scope => offered.includes(scope))].join(' ')
}

function requireSafe(issuer: string): URL {
  const url = URL.parse(issuer)
  const isHere = url && (['localhost', '[::1]'].includes(url.hostname) || /^127(\.\d{1,3}){3}$/.test(url.hostname))
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere)) return url
  throw new Unfit('oidc_issuer must be an https address.', { try: 'fleet config set oidc_issuer=https://…' })
}

function missing(file: string): never {
  throw new Unfit(`The file of oidc_client_secret_file is missing: ${file}`)
}
