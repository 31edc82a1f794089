import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Clock, SystemClock } from '../core/clock.ts'
import { defaultScript } from './default-script.ts'
import { Dialogue } from './dialogue.ts'
import { HeardTexts } from './hearing.ts'
import { Journal, type JournalObserver } from './journal.ts'
import { Reception } from './reception.ts'
import type { Rule, StandInScript } from './script-types.ts'
import { SoundStore } from './sound-store.ts'

/** Options of {@link openStandIns}. */
export interface StandInsOptions {
  /** Address; default 127.0.0.1 and a free port. */
  readonly listen?: { readonly host?: string; readonly port?: number }
  /** Certificate and key in PEM; with them the port accepts TLS only. Default: none. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Default: {@link defaultScript}. */
  readonly script?: StandInScript
  /** Clock of all delays; default the system's. */
  readonly clock?: Clock
  /** Receives everything that is received and sent, as it is; default none. */
  readonly observe?: JournalObserver
}

/** Running stand-ins. */
export interface StandIns {
  /** Address, for instance `http://127.0.0.1:8089`. */
  readonly url: string
  /** The same for WebSockets: `ws://127.0.0.1:8089`. */
  readonly wsUrl: string
  readonly log: Journal
  /**
   * Adds a text that the next turn of any recogniser becomes. Returns a function that removes it, if no turn
   * took it, and returns whether it did.
   */
  willHear(text: string): () => boolean
  /** Replaces the rules of the script, for the next answers of all connections. Drops the texts that wait. */
  follow(rules: readonly Rule[]): void
  /** Prepares the speech of a text, so that its first use takes no time. Rejects if the voice fails. */
  prepare(texts: readonly string[]): Promise<void>
  /** Closes all connections and the port. */
  close(): Promise<void>
}

/**
 * Starts the stand-ins of all engines behind one port. Rejects with an Error of Node if the port cannot be
 * opened.
 */
export const openStandIns = async (options: StandInsOptions = {}): Promise<StandIns> => {
  const { listen = {}, tls, script = defaultScript(), clock = new SystemClock(), observe } = options
  const log = new Journal(() => clock.now(), observe)
  const sounds = new SoundStore()
  const shared: string[] = []
  const dialogue = new Dialogue(script, () => clock.now())
  const stand = {
    clock,
    sounds,
    pace: script.pace,
    dialogue,
    texts: () => new HeardTexts(script.hears, shared),
    fileTexts: new HeardTexts(script.hears, shared),
    ultravoxCalls: new Map(),
  }
  const server = tls ? createTlsServer(tls) : createServer()
  const reception = new Reception({
    stand,
    log,
    shared,
    ...(script.key !== undefined && { key: script.key }),
  })
  server.on('request', (request, response) => reception.request(request, response))
  server.on('upgrade', (request, socket, head) => reception.upgrade(request, socket, head))
  server.listen(listen.port ?? 0, listen.host ?? '127.0.0.1')
  await once(server, 'listening')
  const { address, family, port } = server.address() as AddressInfo
  const host = `${family === 'IPv6' ? `[${address}]` : address}:${port}`
  return {
    url: `${tls ? 'https' : 'http'}://${host}`,
    wsUrl: `${tls ? 'wss' : 'ws'}://${host}`,
    log,
    willHear: (text) => {
      shared.push(text)
      return () => {
        const at = shared.indexOf(text)
        return at >= 0 && shared.splice(at, 1).length > 0
      }
    },
    follow: (rules) => {
      shared.length = 0
      dialogue.follow(rules)
    },
    prepare: async (texts) => {
      for (const text of texts) await sounds.samples({ kind: 'speech' }, text, 24_000)
    },
    close: async () => {
      reception.close()
      server.closeAllConnections()
      server.close()
      await Promise.all([once(server, 'close'), sounds.close()])
    },
  }
}
