import type { MediaConfig } from '../../config/types.ts'
import type { EdgeOptions } from '../../media/edge/options.ts'
import { realtimeObstacle, type ThreadPriority } from '../../media/edge/realtime.ts'
import type { Log } from '../core/log.ts'

/** Returns the options of the edge for the priority of its threads, and logs it. `cores`: their number. */
export const priorityOptions = (
  { realtime, threads }: Pick<MediaConfig['rtp'], 'realtime' | 'threads'>,
  log: Log,
  cores?: number,
): Pick<EdgeOptions, 'isRealtime' | 'onPriority'> => {
  const onPriority = (priority: ThreadPriority) => logPriority(log, priority)
  if (!realtime) return { isRealtime: false, onPriority }
  const reason = realtimeObstacle(threads, cores)
  if (reason !== undefined) onPriority({ isRealtime: false, reason })
  return { isRealtime: reason === undefined, onPriority }
}

const logPriority = (log: Log, priority: ThreadPriority): void => {
  if (priority.isRealtime) log.info({ event: 'media.realtime-set' }, 'media thread has real-time priority')
  else
    log.info({ event: 'media.realtime-missing', reason: priority.reason }, 'media thread has normal priority')
}
