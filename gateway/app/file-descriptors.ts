import { readFileSync } from 'node:fs'
import type { Config } from '../../config/types.ts'
import { localAddresses } from '../../media/edge/options.ts'

/**
 * Number of descriptors for the store, recordings, sounds, requests to customers' servers and the process
 * itself.
 */
const reserve = 256

/** Settings from which the number of needed file descriptors is computed. */
export interface DescriptorConfig {
  readonly http: Pick<Config['http'], 'plain' | 'tls' | 'metrics' | 'maxConnections'>
  readonly limits: { readonly webSockets: Pick<Config['limits']['webSockets'], 'connections'> }
  readonly sip: Pick<Config['sip'], 'listen' | 'drachtio'> & {
    readonly messages: Pick<Config['sip']['messages'], 'connections'>
  }
  readonly media: { readonly rtp: Pick<Config['media']['rtp'], 'ports' | 'bind' | 'announce'> }
}

/**
 * Returns the number of file descriptors that the gateway needs if everything that the configuration permits
 * happens at once.
 */
export const neededDescriptors = ({ http, limits, sip, media }: DescriptorConfig): number => {
  const listeners = [http.plain, http.tls, http.metrics].filter(Boolean).length
  const streams = sip.drachtio ? [] : sip.listen.filter(({ transport }) => transport !== 'udp')
  const { from, to } = media.rtp.ports
  return (
    listeners * http.maxConnections +
    limits.webSockets.connections +
    // Twice: a listener may open as many connections as it accepts.
    streams.length * 2 * sip.messages.connections +
    // Each port is bound in every IP family.
    (to - from + 1) * localAddresses(media.rtp).length +
    reserve
  )
}

/** Returns the limit of open files of this process; undefined if the system does not report one. */
export const descriptorLimit = (
  read = () => readFileSync('/proc/self/limits', 'utf8'),
): number | undefined => {
  try {
    const soft = /^Max open files +(\d+)/m.exec(read())?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
