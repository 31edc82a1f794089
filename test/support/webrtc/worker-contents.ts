/** The mediasoup processes of a test file, and what they hold. */
import { observer, type types } from 'mediasoup'

/** Every process that was started, in order. */
export const workers: types.Worker[] = []
observer.on('newworker', (worker) => workers.push(worker))

/** How many things the process itself still has. */
export const left = async (worker: types.Worker): Promise<number> => {
  const dump = await worker.dump()
  return dump.channelMessageHandlers.channelRequestHandlers.length
}

/** A description that does not say how its streams are told from others. */
export const anonymous = (sdp: string): string => sdp.replaceAll(/^a=(ssrc|extmap):.*\r\n/gm, '')
