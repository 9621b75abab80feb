import * as z from 'zod'
import { Forbidden, InvalidInput } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { Device } from '../domain/records/device.ts'
import { signedInDevices, signOutDevice } from '../fleet/people/devices.ts'
import { lookUp } from '../fleet/records.ts'
import { deviceUrl, LINK_LASTS_MS } from '../platform/tokens.ts'
import { isHeld, readHolder } from '../store/index.ts'
import { ask, Ref } from './inputs.ts'
import { type Caller, command, query } from './operation.ts'
import { qrOf } from './qr.ts'

const DeviceView = Device.omit({ signed_out_at: true, key: true }).extend({
  key: z
    .enum(['p256', 'shared'])
    .describe(
      'what it proves itself with: a key that cannot be copied, or, at an unencrypted address, a shared secret',
    ),
  this_one: z.boolean().describe('the browser that asks'),
})

/** What a plugin or an agent does must not outlive it on somebody's phone. */
function requirePerson(caller: Caller): void {
  if (caller.kind !== 'owner' || caller.plugin) throw new Forbidden('Only a person lets a device in.')
}

const ADVICE = [
  {
    how: 'In your own network, with a certificate that the phone trusts',
    command: 'fleet down && fleet up --detach --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem',
  },
  {
    how: 'Through a VPN that both are in, such as WireGuard or Tailscale, which encrypts',
    command: 'fleet down && fleet up --detach --host <address of this machine in the VPN> --allow-insecure',
  },
  {
    how: 'Through a tunnel or a proxy that speaks TLS and leads to the address of the fleet on this machine',
    command: 'fleet down && fleet up --detach --allow-host <the name the phone uses>',
  },
]

export const devices = [
  command({
    name: 'continue_on_phone',
    summary: 'Make a link, and a code to scan, that signs one other device in: once, within ten minutes',
    http: 'POST /api/devices',
    input: z.object({
      name: z.string().max(100).default('').describe('what to call the device; empty: as its browser says'),
      address: z.string().max(300).optional().describe('one of those the answer names; absent: the first'),
    }),
    output: z.object({
      link: z
        .object({
          url: z.string(),
          expires_at: z.string(),
          device_id: z.string().describe('under which the device is listed once it came'),
          encrypted: z.boolean().describe('false: what travels can be read along, unless a VPN hides it'),
          qr: z.object({ text: z.string(), svg: z.string(), modules: z.array(z.array(z.boolean())) }),
        })
        .nullable()
        .describe('empty: no other machine reaches this server'),
      addresses: z.array(z.string()).describe('where other machines reach this server, the likeliest first'),
      advice: z
        .array(z.object({ how: z.string(), command: z.string() }))
        .describe('where none does: how to change that safely'),
    }),
    run: async ({ fleet, caller }, { name, address }) => {
      requirePerson(caller)
      const addresses = isHeld(fleet.home.path) ? (readHolder(fleet.home.path)?.reachable_at ?? []) : []
      if (address !== undefined && !addresses.includes(address))
        throw new InvalidInput('address', `this server is not reached at ${address}`, {
          try: addresses.length ? `Choose one of ${addresses.join(', ')}.` : 'Leave it out to be told what to do.',
        })
      const [at] = address === undefined ? addresses : [address]
      if (!at) return { link: null, addresses, advice: ADVICE }
      const expiresMs = Date.parse(fleet.now()) + LINK_LASTS_MS
      const id = newId()
      const url = deviceUrl(fleet.home, at, { id, name, expiresMs })
      const expires_at = new Date(expiresMs).toISOString()
      const encrypted = at.startsWith('https:')
      return { link: { url, expires_at, device_id: id, encrypted, qr: qrOf(url) }, addresses, advice: [] }
    },
  }),
  query({
    name: 'list_devices',
    summary: 'The browsers that are signed in, newest first',
    http: 'GET /api/devices',
    input: z.object({}),
    output: z.object({ devices: z.array(DeviceView) }),
    run: async ({ fleet, caller }) => {
      const own = caller.kind === 'owner' ? caller.device : undefined
      const found = await signedInDevices(fleet)
      const devices = found.map(({ signed_out_at, key, ...device }) => ({
        ...device,
        key: key!.kind,
        this_one: device.id === own,
      }))
      return { devices }
    },
  }),
  command({
    name: 'sign_out_device',
    summary: 'Sign a browser out, at once and for good; what it has open is closed',
    http: 'DELETE /api/devices/:device_id',
    input: z.object({ device_id: Ref }),
    output: z.object({ device_id: z.string() }),
    run: async (context, { device_id }) => {
      requirePerson(context.caller)
      const { value } = await lookUp(context.fleet, 'devices', device_id)
      await signOutDevice(context.fleet, ask(context, 'sign_out_device'), value.id)
      return { device_id: value.id }
    },
  }),
]
