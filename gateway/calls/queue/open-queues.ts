import type { Queue } from './queue.ts'
import type { ProjectQueues } from './queues.ts'

/** Queue in use, as shown by the REST API. */
export type OpenQueue = Pick<Queue, 'id' | 'name' | 'openedAt' | 'maxSize' | 'averageWaitMs' | 'members'>

/** Queues of all projects, as used by the REST API. */
export type OpenQueues = Pick<ProjectQueues, 'of'>
