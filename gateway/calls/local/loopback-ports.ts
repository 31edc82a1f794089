import { codecInfo } from '../../../media/codecs/codec-info.ts'
import type { AudioCodec, Edge, MediaPort } from '../../../media/types.ts'

/** RTP payload type of telephone-event between the two ports. */
const telephoneEvent = 101
/** RTP payload type of codecs without a static one (RFC 3551). */
const dynamicPayloadType = 96

/** Two media ports that are each other's far end. */
export type PortPair = readonly [first: MediaPort, second: MediaPort]

/**
 * Opens two ports that send RTP to each other over loopback. They connect the audio of two calls, whose own
 * ports cannot be joined. `groups`: the media groups of the two calls. Rejects with `no_ports` if a port
 * cannot be opened; no port stays open then.
 */
export const openPortPair = async (
  edge: Pick<Edge, 'open'>,
  groups: readonly [string, string],
  codec: AudioCodec,
): Promise<PortPair> => {
  const first = await edge.open({ group: groups[0], kind: 'loopback' })
  let second: MediaPort | undefined
  try {
    second = await edge.open({ group: groups[1], kind: 'loopback' })
    aim(first, second, codec)
    aim(second, first, codec)
    return [first, second]
  } catch (error) {
    await Promise.all([first.close(), second?.close()])
    throw error
  }
}

const aim = (port: MediaPort, far: MediaPort, codec: AudioCodec): void => {
  const format = { codec, payloadType: codecInfo[codec].payloadType ?? dynamicPayloadType }
  port.setFar(
    { codecs: [format], telephoneEvent },
    {
      address: far.address,
      port: far.port,
      rtcpPort: far.rtcpPort,
      rtcpMux: true,
      codec,
      payloadType: format.payloadType,
      telephoneEvent,
      direction: 'sendrecv',
    },
  )
}
