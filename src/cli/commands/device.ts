import type { Command } from 'commander'
import type { z } from 'zod'
import { shortId } from '../../domain/ids.ts'
import type { devices } from '../../operations/devices.ts'
import { type Cli, does } from '../command.ts'
import { EXIT } from '../exit.ts'
import { ago, untilInWords } from '../show.ts'

type Answer<N extends (typeof devices)[number]['name']> = z.infer<
  Extract<(typeof devices)[number], { name: N }>['output']
>

export function addDevices(program: Command): void {
  const phone = program
    .command('phone')
    .description('show a QR code that signs in your phone; it works once, for ten minutes')
    .option('--name <name>', 'name of the device (default: the name its browser gives)')
    .option('--address <url>', 'use another address of this server')
  does(phone, async (cli, _, options) => letIn(cli, { name: options.name, address: options.address }))

  const device = program.command('device').description('manage signed-in browsers')
  does(device.command('list').description('list signed-in browsers'), listDevices)
  const out = device
    .command('sign-out')
    .description('sign out a device now')
    .argument('<device>', 'id or first letters')
  does(out, async (cli, [id]) => {
    const answer = await cli.ask<Answer<'sign_out_device'>>('sign_out_device', { device_id: id })
    cli.terminal.tell(answer, () => cli.terminal.print(`Device ${shortId(answer.device_id)} is signed out.`))
  })
}

async function letIn(cli: Cli, wish: object): Promise<number | undefined> {
  const { terminal } = cli
  const answer = await cli.ask<Answer<'continue_on_phone'>>('continue_on_phone', wish)
  if (terminal.json) return void terminal.data(answer)
  if (!answer.link) {
    terminal.note('Other machines cannot reach this fleet. To connect a phone safely:')
    for (const { how, command } of answer.advice) terminal.note(`\n  ${how}:\n    ${command}`)
    return EXIT.failed
  }
  terminal.print(answer.link.qr.text)
  terminal.print(answer.link.url)
  terminal.note(`It works once, until ${untilInWords(answer.link.expires_at)}.`)
  if (!answer.link.encrypted)
    terminal.note('The connection is not encrypted. Use it only inside a VPN such as WireGuard or Tailscale.')
  const others = answer.addresses.filter(address => !answer.link!.url.startsWith(`${address}/`))
  if (others.length) terminal.note(`If the phone does not reach it, try --address with one of: ${others.join(', ')}`)
}

async function listDevices(cli: Cli): Promise<undefined> {
  const { terminal } = cli
  const answer = await cli.ask<Answer<'list_devices'>>('list_devices', {})
  if (terminal.json) return void terminal.data(answer)
  if (!answer.devices.length) return void terminal.note('No browser is signed in.')
  terminal.table(
    [
      { title: 'DEVICE', value: each => shortId(each.id) },
      { title: 'NAME', value: each => terminal.foreign(each.name), flexible: true },
      { title: 'BY', value: each => each.via },
      { title: 'KEY', value: each => (each.key === 'p256' ? 'its own' : 'shared') },
      { title: 'SINCE', value: each => ago(each.signed_in_at), right: true },
      { title: 'UNTIL', value: each => each.expires_at.slice(0, 10) },
    ],
    answer.devices,
  )
}
