import { setTimeout as sleep } from 'node:timers/promises'
import { createEdge } from '../../../media/edge/edge.ts'
import { freePort, freePortRange } from '../../../media/testing/free-ports.ts'
import type { BrowserMedia, Edge, MediaPort } from '../../../media/types.ts'
import { createWebRtc, type WebRtcService } from '../../../media/webrtc/webrtc.ts'

/** A media edge with WebRTC on 127.0.0.1. */
export interface MediaStack {
  readonly edge: Edge
  readonly webrtc: WebRtcService
  close(): Promise<void>
}

/** Opens a media stack; default with one mediasoup process. */
export const openMediaStack = async ({ workers = 1 } = {}): Promise<MediaStack> => {
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
    port: await freePort(),
    workers,
  })
  return {
    edge,
    webrtc,
    close: async () => {
      await webrtc.close()
      await edge.close()
    },
  }
}

/** Waits until `value` fulfils `wanted`, and gives it. Throws with the last one after `ms`. */
export const until = async <T>(
  value: () => T | Promise<T>,
  wanted: (value: T) => boolean,
  ms = 30_000,
): Promise<T> => {
  const end = performance.now() + ms
  for (;;) {
    const found = await value()
    if (wanted(found)) return found
    if (performance.now() > end) throw new Error(`not reached in ${ms} ms; last: ${JSON.stringify(found)}`)
    await sleep(100)
  }
}

/** Closes a session as a leg does: the session, then the port. */
export const hangUp = async (media: BrowserMedia, ...ports: MediaPort[]): Promise<void> => {
  await media.close()
  for (const port of [media.port, ...ports]) await port.close()
}
