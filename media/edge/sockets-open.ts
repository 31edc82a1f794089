import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type BindSocket, bindUdp } from './sockets.ts'
import { addonVersion, openBatchSockets, type SocketCounters, type UdpAddon } from './sockets-batch.ts'

/**
 * `native`: the addon of media/edge/native. `node`: Node's own sockets, slower because of one event per
 * packet.
 */
export type SocketKind = 'native' | 'node'

/** Sockets of a media thread. */
export interface ThreadSockets {
  readonly kind: SocketKind
  readonly bind: BindSocket
  /** Only with `native`. */
  readonly counters?: () => SocketCounters
}

/** Path of the addon built by `scripts/worker`. */
export const addonFile: string = fileURLToPath(new URL('./native/udp.node', import.meta.url))

/** Loads the addon. Throws if it was not built, is of another version, or does not fit Node or the system. */
export const loadAddon = (): UdpAddon => {
  const addon = createRequire(import.meta.url)(addonFile) as UdpAddon
  if (addon.version !== addonVersion)
    throw new Error(`the addon is version ${addon.version}, ${addonVersion} expected; run scripts/worker`)
  return addon
}

/** Returns why the addon was not loaded or a call of it failed. */
export const addonFailure = (error: unknown): string => {
  // The error for a missing module has several lines with its require stack: only the first is used.
  const [reason = ''] = (error as Error).message.split('\n')
  return reason
}

/** Returns the socket kind that media threads use by default, with the reason if the addon is unavailable. */
export const socketKind = (): { readonly kind: SocketKind; readonly reason?: string } => {
  try {
    loadAddon()
    return { kind: 'native' }
  } catch (error) {
    return { kind: 'node', reason: addonFailure(error) }
  }
}

/** Opens the thread's sockets; must be called once per thread. Throws if `native` is unavailable. */
export const openSockets = (kind: SocketKind): ThreadSockets =>
  kind === 'native' ? { kind, ...openBatchSockets(loadAddon()) } : { kind, bind: bindUdp }
