import { agentVersions } from './agent-versions.ts'
import { conferenceTokens } from './conference-token-table.ts'
import { declaredStreams } from './declared-streams.ts'
import { doNotDisturb } from './do-not-disturb.ts'
import { firstRelease } from './first-release.ts'
import type { Migration } from './migration.ts'
import { recordingFiles } from './recording-files.ts'
import { roomHistory } from './room-history.ts'
import { roomStreams } from './room-streams.ts'
import { subscriberCalls } from './subscriber-calls.ts'
import { subscriberCallsInProgress } from './subscriber-calls-in-progress.ts'

/**
 * All migrations in order; the version is the position, from 1. A released one must never be edited: a change
 * is a new entry at the end.
 */
export const migrations: readonly Migration[] = [
  firstRelease,
  subscriberCalls,
  doNotDisturb,
  subscriberCallsInProgress,
  roomHistory,
  recordingFiles,
  roomStreams,
  declaredStreams,
  conferenceTokens,
  agentVersions,
]
