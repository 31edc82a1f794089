import type { Config } from '../../config/types.ts'
import { listenError } from '../core/start-error.ts'

/**
 * Returns the error of a SIP agent that did not start. If a listener failed, the error names its key in the
 * configuration. The agent runs in a thread, which passes only the text of its error.
 */
export const sipStartError = (error: unknown, listen: Config['sip']['listen']): unknown => {
  const text = error instanceof Error ? error.message : String(error)
  const [, transport, address, port, reason] = /cannot bind (\w+) (\S+):(\d+): (.*)$/s.exec(text) ?? []
  const index = listen.findIndex(
    (each) => each.transport === transport && each.address === address && String(each.port) === port,
  )
  const failed = listen[index]
  if (!failed) return error
  const protocol = failed.transport === 'udp' ? 'udp' : 'tcp'
  return listenError(
    { ...failed, key: `sip.listen[${index}]`, protocol },
    new Error(reason, { cause: error }),
  )
}

/** Returns the error of a WebRTC service that did not start. If its port is the reason, names the key. */
export const webRtcStartError = (error: unknown, { bind, port }: Config['media']['webrtc']): unknown => {
  const text = error instanceof Error ? error.message : String(error)
  if (!/uv_(?:udp|tcp)_(?:bind|listen)|EADDR|address (?:already in use|not available)/i.test(text))
    return error
  const protocol = /protocol:tcp|uv_tcp/i.test(text) ? 'tcp' : 'udp'
  return listenError({ key: 'media.webrtc.port', protocol, address: bind, port }, error)
}
