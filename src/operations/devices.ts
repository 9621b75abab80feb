import * as z from 'zod'
import { Ambiguous, InvalidInput, NotFound } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { Device } from '../domain/records/device.ts'
import { signedInDevices, signOutDevice } from '../fleet/people/devices.ts'
import { current, lookUp } from '../fleet/records.ts'
import { deviceUrl, LINK_LASTS_MS } from '../platform/tokens.ts'
import { isHeld, readDaemon } from '../store/index.ts'
import { isPrincipal } from './authorize.ts'
import { ask, Ref } from './inputs.ts'
import { type Caller, type Context, command, deviceOf, query } from './operation.ts'
import { requirePerson, requireWhole } from './person.ts'
import { qrOf } from './qr.ts'

const DeviceView = Device.omit({ signed_out_at: true, key: true, push: true, epoch: true }).extend({
  key: z
    .enum(['p256', 'shared'])
    .describe(
      'how it signs requests: with a key that cannot be copied or, at an unencrypted address, with a shared secret',
    ),
  this_one: z.boolean().describe('true for the browser that sent this request'),
})

/** A plugin, an agent or a service must not gain access that outlives it on a device. */
const requireSigner = (caller: Caller): void => requirePerson(caller, 'sign a device in')

/** The owner manages all browsers; a person their own, but not with a token that has less than they have. */
const isOwn = (caller: Caller, { principal_id }: Device): boolean =>
  isPrincipal(caller) ? caller.limit === null && principal_id === caller.id : true

/** Several that begin alike are named to whoever manages all of them, so a person finds only among their own. */
async function ownDevice({ fleet, caller }: Context, ref: string): Promise<Device> {
  if (!isPrincipal(caller)) return (await lookUp(fleet, 'devices', ref)).value
  const own = (await signedInDevices(fleet)).filter(device => isOwn(caller, device))
  const found = own.filter(({ id }) => id.startsWith(ref))
  if (found.length > 1)
    throw new Ambiguous(
      'device',
      ref,
      found.map(({ id }) => ({ id })),
    )
  if (!found[0]) throw new NotFound('device', ref)
  return found[0]
}

const ADVICE = [
  {
    how: 'In your own network, with a certificate that the phone trusts',
    command: 'fleet down && fleet up --detach --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem',
  },
  {
    how: 'Through a VPN that includes both, such as WireGuard or Tailscale, which encrypts',
    command: 'fleet down && fleet up --detach --host <address of this machine in the VPN> --allow-insecure',
  },
  {
    how: 'Through a TLS tunnel or proxy that forwards to the address of the fleet on this machine',
    command: 'fleet down && fleet up --detach --allow-host <the name the phone uses>',
  },
]

export const devices = [
  command({
    name: 'continue_on_phone',
    may: 'self.manage',
    // The answer signs a browser in, so it is for the person and not for a model.
    mcp: false,
    summary: 'Create a link and a QR code that sign in one other device, once, within ten minutes',
    http: 'POST /api/devices',
    input: z.object({
      name: z.string().max(100).default('').describe('a name for the device; empty: the name its browser gives'),
      address: z.string().max(300).optional().describe('one of the addresses in the answer; absent: the first'),
    }),
    output: z.object({
      link: z
        .object({
          url: z.string(),
          expires_at: z.string(),
          device_id: z.string().describe('the id of the device in the list, once it has signed in'),
          encrypted: z.boolean().describe('false: others can read the traffic, unless a VPN encrypts it'),
          qr: z.object({ text: z.string(), svg: z.string(), modules: z.array(z.array(z.boolean())) }),
        })
        .nullable()
        .describe('empty: other machines cannot reach this server'),
      addresses: z.array(z.string()).describe('where other machines can reach this server, the likeliest first'),
      advice: z
        .array(z.object({ how: z.string(), command: z.string() }))
        .describe('if other machines cannot reach it: how to change that safely'),
    }),
    run: async ({ fleet, caller }, { name, address }) => {
      requireSigner(caller)
      requireWhole(caller)
      const addresses = isHeld(fleet.home.path) ? (readDaemon(fleet.home.path)?.reachable_at ?? []) : []
      if (address !== undefined && !addresses.includes(address))
        throw new InvalidInput('address', `is not an address of this server: ${address}`, {
          try: addresses.length ? `Choose one of ${addresses.join(', ')}.` : 'Leave it out to see what to do.',
        })
      const [at] = address === undefined ? addresses : [address]
      if (!at) return { link: null, addresses, advice: ADVICE }
      const expiresMs = Date.parse(fleet.now()) + LINK_LASTS_MS
      const id = newId()
      const principal = isPrincipal(caller) ? (await current(fleet, 'principals', caller.id)).value : undefined
      const url = await deviceUrl(fleet.keys, at, { id, name, expiresMs, principal })
      const expires_at = new Date(expiresMs).toISOString()
      const encrypted = at.startsWith('https:')
      return { link: { url, expires_at, device_id: id, encrypted, qr: qrOf(url) }, addresses, advice: [] }
    },
  }),
  query({
    name: 'list_devices',
    may: 'self.manage',
    mcp: 'system',
    summary: 'List the browsers that are signed in, newest first',
    http: 'GET /api/devices',
    input: z.object({}),
    output: z.object({ devices: z.array(DeviceView) }),
    run: async ({ fleet, caller }) => {
      const own = deviceOf(caller)
      const found = (await signedInDevices(fleet)).filter(device => isOwn(caller, device))
      const devices = found.map(({ signed_out_at, key, push, epoch, ...device }) => ({
        ...device,
        key: key!.kind,
        this_one: device.id === own,
      }))
      return { devices }
    },
  }),
  command({
    name: 'sign_out_device',
    may: 'self.manage',
    mcp: 'system',
    summary: 'Sign a browser out at once and close its connections',
    http: 'DELETE /api/devices/:device_id',
    input: z.object({ device_id: Ref }),
    output: z.object({ device_id: z.string() }),
    run: async (context, { device_id }) => {
      requireSigner(context.caller)
      const { id } = await ownDevice(context, device_id)
      await signOutDevice(context.fleet, ask(context, 'sign_out_device'), id)
      return { device_id: id }
    },
  }),
]
