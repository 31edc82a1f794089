import type { AgentTurnSettings } from '../verbs.ts'

/** Rules of turn-taking of a document that names none. */
export const usualTurns: AgentTurnSettings = {
  endOfSpeechMs: 700,
  isSemantic: true,
  semanticMs: 250,
  firstWordMs: 1000,
  speechEventMs: 1400,
  maxSpeechMs: 60_000,
  confidence: 0.6,
  barge: 'any',
  bargeMinWords: 0,
  bargeConfidence: 0,
  bargeFunctions: true,
  transparentBargeMs: 3000,
  attentionMs: 5000,
  inactivityMs: 600_000,
  keyMs: 3000,
  keyTerminators: '',
}
