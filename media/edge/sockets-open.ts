import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type BindSocket, bindUdp } from './sockets.ts'
import { openBatchSockets, type SocketCounters, type UdpAddon } from './sockets-batch.ts'

/** `native`: the addon of media/edge/native; `node`: Node's own sockets, one event per packet, which cost more. */
export type SocketKind = 'native' | 'node'

/** The sockets of a media thread. */
export interface ThreadSockets {
  readonly kind: SocketKind
  readonly bind: BindSocket
  /** Only of `native`. */
  readonly counters?: () => SocketCounters
}

/** Where `scripts/worker` puts the addon that it built. */
export const addonFile: string = fileURLToPath(new URL('./native/udp.node', import.meta.url))

/** Loads the addon. Throws where it was not built, or cannot be used by this Node on this system. */
export const loadAddon = (): UdpAddon => createRequire(import.meta.url)(addonFile) as UdpAddon

/** What `native` threads would be, and why they are not where they cannot. */
export const socketKind = (): { readonly kind: SocketKind; readonly reason?: string } => {
  try {
    loadAddon()
    return { kind: 'native' }
  } catch (error) {
    // A module that is not there tells who looked for it, over several lines.
    const [reason = ''] = (error as Error).message.split('\n')
    return { kind: 'node', reason }
  }
}

/** The thread's sockets; to be called once per thread. Throws where `native` is not to be had. */
export const openSockets = (kind: SocketKind): ThreadSockets =>
  kind === 'native' ? { kind, ...openBatchSockets(loadAddon()) } : { kind, bind: bindUdp }
