import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { MediaClock } from './clock.ts'
import { EdgeError } from './errors.ts'
import type { SocketKind } from './sockets-open.ts'

/** How the edge is set up. Times in ms. */
export interface EdgeOptions {
  /** Local address of carrier ports; `0.0.0.0` for all of IPv4. */
  readonly bind: string
  /** Address in our SDP; default `bind`, or the machine's first address that is not internal when `bind` is unspecific. */
  readonly announce?: string
  /** Inclusive. */
  readonly ports: { readonly from: number; readonly to: number }
  /** Worker threads, 1 or more; each has its share of the range. */
  readonly threads: number
  readonly startTimeoutMs: number
  readonly mediaTimeoutMs: number
  /** How long a closed port rests before it is used again; default 30,000. */
  readonly quarantineMs?: number
  /** Default `native` where its addon can be loaded. */
  readonly sockets?: SocketKind
  /** Default the machine's. */
  readonly clock?: MediaClock
}

/** Throws an {@link EdgeError} `bad_options` that says what is wrong. */
export function checkOptions({ bind, announce, ports, threads }: EdgeOptions): void {
  const fail = (message: string): never => {
    throw new EdgeError('bad_options', message)
  }
  if (!isIP(bind)) fail(`bind: expected an IP address, got ${JSON.stringify(bind)}`)
  if (announce !== undefined && !isIP(announce)) {
    fail(`announce: expected an IP address, got ${JSON.stringify(announce)}`)
  }
  if (!Number.isInteger(threads) || threads < 1) fail(`threads: expected 1 or more, got ${threads}`)
  const { from, to } = ports
  if (!(from >= 1 && to <= 65535 && from < to))
    fail(`ports: expected a range of 1 to 65535, got ${from} to ${to}`)
}

/** The address to announce for what is bound: the same, or the machine's first address that is not internal. */
export function announced(bind: string): string {
  if (bind !== '0.0.0.0' && bind !== '::') return bind
  const family = bind === '::' ? 'IPv6' : 'IPv4'
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const own = addresses.find((entry) => !entry.internal && entry.family === family)
  // A machine without any network still serves itself.
  return own?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1')
}
