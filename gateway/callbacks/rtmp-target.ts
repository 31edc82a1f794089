import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { parseRtmpUrl, type RtmpUrl } from '../../config/rtmp-url.ts'
import type { RoomStreamTarget } from '../../media/types.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { AddressRefused } from './answers.ts'
import { guardedLookup, literalOf, type Resolve } from './guarded-lookup.ts'

/** Time without traffic after which a connection is lost, in ms. */
const idleMs = 30_000

/** Address that is not permitted; further attempts would fail, too. */
export class RtmpForbidden extends Error {}

/**
 * Reads the URL of a stream: `rtmp://host/app/key`, or with `rtmps:`. Throws `bad_room_stream_url`. Errors
 * never contain the key.
 */
export const readRtmpUrl = (text: string): RtmpUrl => {
  const url = parseRtmpUrl(text)
  if (!url) throw new TrunklineError('bad_room_stream_url', undefined, { attribute: 'url' })
  return url
}

/** Connects to the server of a stream. The addresses of its name pass the guard, and are used as they are. */
export class RtmpConnector {
  readonly #guard: Pick<AddressGuard, 'permits'>
  readonly #resolve: Resolve | undefined

  constructor(guard: Pick<AddressGuard, 'permits'>, resolve?: Resolve) {
    this.#guard = guard
    this.#resolve = resolve
  }

  /** Returns the target of a URL. Throws as {@link readRtmpUrl} does. */
  target(text: string): RoomStreamTarget & Pick<RtmpUrl, 'masked'> {
    const url = readRtmpUrl(text)
    return { ...url, connect: (signal) => this.#connect(url, signal) }
  }

  #connect({ host, port, hasTls }: RtmpUrl, signal: AbortSignal): Promise<Socket> {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>()
    const literal = literalOf({ hostname: host })
    // An IP address is not resolved, so it is checked here.
    if (literal !== undefined && !this.#guard.permits(literal))
      return Promise.reject(failureOf(new AddressRefused(literal)))
    const lookup = guardedLookup(this.#guard, this.#resolve)
    const options = { host, port, lookup }
    const socket = hasTls
      ? connectTls({ ...options, ...(literal === undefined && { servername: host }) })
      : connectPlain(options)
    const giveUp = () => socket.destroy(new Error('given up'))
    signal.addEventListener('abort', giveUp, { once: true })
    const noTraffic = () => socket.destroy(Object.assign(new Error('no traffic'), { code: 'ETIMEDOUT' }))
    socket.setTimeout(idleMs, noTraffic)
    socket.once(hasTls ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', giveUp)
      resolve(socket)
    })
    socket.once('error', (error) => reject(failureOf(error)))
    return promise
  }
}

const failureOf = (error: Error): Error => {
  if (error instanceof AddressRefused)
    return new RtmpForbidden(
      `The address ${error.address} is not public, and not in limits.documentNetworks.`,
    )
  const { code = error.message } = error as NodeJS.ErrnoException
  return new Error(`The connection to the server failed: ${code}.`)
}
