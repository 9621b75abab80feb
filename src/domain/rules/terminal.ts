import { NotAllowed } from '../errors.ts'
import type { Device } from '../records/device.ts'

export type TerminalDevices = 'computers' | 'all' | 'off'

const PHONE = /\b(iPhone|iPad|Android|Mobile)\b/

/**
 * Whether a browser may open a terminal, which can do whatever the person can. A phone is lost more easily than a
 * computer, and at an unencrypted address of a network others can read along.
 */
export function requireTerminal(
  device: Pick<Device, 'user_agent' | 'key'> | undefined,
  allowed: TerminalDevices,
): void {
  const refuse = (why: string): never => {
    throw new NotAllowed(why, { try: 'Change it in Settings, at “Terminal in the browser”.' })
  }
  if (allowed === 'off') refuse('The terminal in the browser is turned off.')
  if (allowed === 'all' || !device) return
  if (device.key?.kind === 'shared') refuse('The terminal is not available at an unencrypted address.')
  if (PHONE.test(device.user_agent)) refuse('The terminal is not available on phones.')
}
