import type { Queue } from './queue.ts'
import type { ProjectQueues } from './queues.ts'

/** Queue with a waiting caller or consumer. */
export type OpenQueue = Pick<Queue, 'id' | 'name' | 'openedAt' | 'maxSize' | 'averageWaitMs' | 'members'>

/** Queues of all projects, for control from outside their calls. */
export type OpenQueues = Pick<ProjectQueues, 'of'>
