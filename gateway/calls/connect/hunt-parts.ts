import type { Bridges } from '../leg/bridge.ts'
import type { Player } from '../verbs/player.ts'
import type { RingingParts } from './ringing-parts.ts'

/** What a hunt works with. */
export interface HuntParts extends RingingParts {
  readonly bridges: Bridges
  readonly player: Player
}

/** Longest time together where the options say nothing: 4 hours. */
export const MAX_DURATION_MS = 4 * 3_600_000
