import type { AgentDetectorConfig } from '../../../config/types.ts'
import { findSilero, installCommand } from './silero-files.ts'
import { type SileroDeps, SileroThread } from './silero-thread.ts'
import type { SpeechDetector } from './speech-detector.ts'

/** Opens the configured detector. If its files cannot be used, logs a warning, and returns undefined. */
export const openDetector = (config: AgentDetectorConfig, deps: SileroDeps): SpeechDetector | undefined => {
  try {
    return new SileroThread(findSilero(config), config.threshold, deps)
  } catch (error) {
    deps.metrics.agentDetectorFailures.inc({ failure: 'missing' })
    deps.log.warn(
      { event: 'agent.detector-missing', reason: (error as Error).message, command: installCommand(config) },
      'detector of voice not installed',
    )
    return undefined
  }
}
