import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { readConfigText } from '../../../config/config-text.ts'
import { readConfig } from '../../../config/load.ts'
import { isJsonObject } from '../../core/json.ts'
import type { TestDocument } from './agent-document.ts'

type Json = Readonly<Record<string, unknown>>

/** RTP ports for each caller: two for its leg, and more for calls that the document makes. */
const portsPerCaller = 8
const minPorts = 100

/** Domain of a caller, by which it reaches its own copy of the document. */
export const domainOf = (seat: number): string => `caller-${seat}.agent-test`

/**
 * Returns the configuration of the gateway of a test: on free ports of 127.0.0.1, with one domain for each
 * caller. `more`: engines, and other keys such as limits. `server`: IP address of the server of functions,
 * which the gateway may reach beside the networks of the limits.
 */
export const gatewayConfig = async (
  documents: readonly TestDocument[],
  more: Json,
  server = '127.0.0.1',
): Promise<Json> => {
  const { limits = {}, ...agents } = more
  const { documentNetworks = [] } = limits as { readonly documentNetworks?: readonly string[] }
  const own = server.startsWith('127.') ? [] : [`${server}/${isIP(server) === 6 ? 128 : 32}`]
  return {
    dataDir: './data',
    drain: '1s',
    sip: {
      listen: [{ transport: 'udp', address: '127.0.0.1', port: 0 }],
      dialNetworks: ['127.0.0.0/8'],
      // The machine may be busy with other work, and is to test the agent nevertheless.
      overload: { busyPercent: 100 },
    },
    media: {
      rtp: {
        bind: '127.0.0.1',
        ports: await rtpPorts(Math.max(minPorts, portsPerCaller * documents.length)),
      },
      webrtc: { bind: '127.0.0.1', port: await freeUdpPort() },
    },
    http: { plain: { address: '127.0.0.1', port: 0 }, tls: { address: '127.0.0.1', port: 0 } },
    limits: {
      ...(limits as object),
      documentNetworks: ['127.0.0.0/8', ...own, ...documentNetworks],
      strangers: manyCalls,
    },
    ...agents,
    domains: documents.map(({ kind, value }, index) => ({
      domain: domainOf(index + 1),
      allow: ['127.0.0.0/8'],
      handler: { kind, document: value },
    })),
  }
}

/** Limits of calls from one address, beyond those of any test. */
const manyCalls = { maxCallsOfSource: 200, callsPerSecondOfSource: 100 }

/** Keys of a configuration that a test takes over: the engines, and what their URLs and texts need. */
const takenKeys = ['agents', 'envs', 'limits'] as const

/**
 * Returns the keys of a configuration file that a test uses. Variables stay as they are: the gateway of the
 * test has the same environment. Paths become absolute, as the gateway's own file is in another folder.
 * Throws ConfigInvalid for a faulty file.
 */
export const enginesOf = (file: string): Json => {
  const { values } = readConfig(file)
  const written: unknown = parseDocument(readConfigText(file), { schema: 'core' }).toJS({
    maxAliasCount: 1000,
  })
  const keys = takenKeys.filter((key) => values[key] !== undefined && Object.hasOwn(written as object, key))
  const taken = Object.fromEntries(keys.map((key) => [key, (written as Json)[key]]))
  const { agents } = taken
  if (!isJsonObject(agents) || !isJsonObject(agents.detector)) return taken
  const { folder, model } = values.agents.detector
  const at = dirname(resolve(file))
  const absolute = (path: string): string => resolve(at, path).replaceAll('${', () => '$${')
  const detector = {
    ...agents.detector,
    ...(folder !== undefined && { folder: absolute(folder) }),
    ...(model !== undefined && { model: absolute(model) }),
  }
  return { ...taken, agents: { ...agents, detector } }
}

/** Returns engines at stand-ins, one for each caller, so that each caller's words reach its own engine. */
export const standInEngines = (
  standIns: readonly { readonly url: string; readonly wsUrl: string }[],
): Json => {
  const each = (make: (seat: number, at: { url: string; wsUrl: string }) => object): object =>
    Object.fromEntries(standIns.map((at, index) => [engineOf(index + 1), make(index + 1, at)]))
  return {
    agents: {
      default: engineOf(1),
      engines: each((seat) => {
        const name = engineOf(seat)
        return { kind: 'pipeline', recognisers: name, models: name, voices: 'built-in' }
      }),
      recognisers: each((_, { wsUrl }) => ({ kind: 'vosk', url: `${wsUrl}/vosk` })),
      models: each((_, { url }) => ({ kind: 'openai', url: `${url}/v1`, key: 'k', model: 'stand-in' })),
    },
  }
}

/** Name of the stand-in engine of a caller. */
export const engineOf = (seat: number): string => `stand-in-${seat}`

const freeUdpPort = async (port = 0): Promise<number> => {
  const socket = createSocket('udp4')
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true })
    await once(socket, 'listening')
    return socket.address().port
  } finally {
    socket.close()
  }
}

/** Ports above the well-known ones, and below those that systems give to clients. */
const rtpSpace = { from: 10_000, to: 32_000 } as const

/** Returns a range of RTP ports whose first ones are free. The gateway skips single ports in use. */
const rtpPorts = async (count: number): Promise<{ from: number; to: number }> => {
  for (let tries = 0; ; tries++) {
    const blocks = Math.floor((rtpSpace.to - rtpSpace.from - count) / 2)
    const from = rtpSpace.from + 2 * Math.floor(Math.random() * blocks)
    try {
      for (const port of [from, from + count / 2, from + count - 1]) await freeUdpPort(port)
      return { from, to: from + count - 1 }
    } catch (error) {
      if (tries === 20) throw error
    }
  }
}
