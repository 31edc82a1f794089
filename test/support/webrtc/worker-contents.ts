/** The mediasoup processes of a test file, and the objects that they hold. */
import { observer, type types } from 'mediasoup'

/** Every process that was started, in order. */
export const workers: types.Worker[] = []
observer.on('newworker', (worker) => workers.push(worker))

/** Number of objects that the process still holds. */
export const left = async (worker: types.Worker): Promise<number> => {
  const dump = await worker.dump()
  return dump.channelMessageHandlers.channelRequestHandlers.length
}

/** Removes the attributes of a description that identify its streams. */
export const anonymous = (sdp: string): string => sdp.replaceAll(/^a=(ssrc|extmap):.*\r\n/gm, '')
