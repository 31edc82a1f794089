import { createEdge } from '../../../media/edge/edge.ts'
import { freePort, freePortRange } from '../../../media/testing/free-ports.ts'
import type { BrowserMedia, Composers, Edge, MediaPort } from '../../../media/types.ts'
import { createWebRtc, type WebRtcService } from '../../../media/webrtc/webrtc.ts'
import { patience, until as poll } from '../until.ts'

/** A media edge with WebRTC on 127.0.0.1. */
export interface MediaStack {
  readonly edge: Edge
  readonly webrtc: WebRtcService
  /** UDP port of the first mediasoup process. */
  readonly port: number
  close(): Promise<void>
}

/** Opens a media stack, by default with one mediasoup process, and without composers. */
export const openMediaStack = async ({
  workers = 1,
  composers,
}: {
  readonly workers?: number
  readonly composers?: Composers
} = {}): Promise<MediaStack> => {
  const port = await freePort()
  const edge = await createEdge({
    bind: '127.0.0.1',
    ports: await freePortRange(98),
    threads: 1,
    startTimeoutMs: 30_000,
    mediaTimeoutMs: 60_000,
    quarantineMs: 0,
  })
  const webrtc = await createWebRtc({
    edge,
    bind: '127.0.0.1',
    announce: [],
    port,
    workers,
    composers,
  })
  return {
    edge,
    webrtc,
    port,
    close: async () => {
      await webrtc.close()
      await edge.close()
    },
  }
}

/** Waits until `wanted` accepts the value, and returns it. Throws with the last value after `ms`. */
export const until = <T>(
  value: () => T | Promise<T>,
  wanted: (value: T) => boolean,
  ms = 30_000,
): Promise<T> => poll('the wanted value', value, wanted, ms / patience)

/** Closes a session as a leg does: the session, then the port. */
export const hangUp = async (media: BrowserMedia, ...ports: MediaPort[]): Promise<void> => {
  await media.close()
  for (const port of [media.port, ...ports]) await port.close()
}
