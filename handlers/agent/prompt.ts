import type { AgentModelSettings } from '../verbs.ts'
import type { AgentPrompt } from './document-types.ts'
import { renderPom } from './pom.ts'
import type { Section } from './section.ts'

/** Format of prompts that are object models. */
export type PomFormat = 'markdown' | 'xml'

/** Returns the text of an object: its `pom`, else its `text`. */
export const promptText = (section: Section, format: PomFormat): string => {
  const pom = section.has('pom') ? renderPom(section.list('pom', maxSections), format) : ''
  const text = section.text('text') ?? ''
  return pom || text
}

/** Maximum number of sections at the top of a prompt. */
const maxSections = 200

/** Maximum number of tokens of an answer that a document can allow. */
const maxTokens = 16_384

/** Reads the settings of a model. Values outside of their ranges are clamped. */
export const modelSettings = (section: Section): AgentModelSettings => {
  const temperature = section.number('temperature', [0, 2])
  const topP = section.number('top_p', [0, 1])
  const presencePenalty = section.number('presence_penalty', [-2, 2])
  const frequencyPenalty = section.number('frequency_penalty', [-2, 2])
  const tokens = section.number('max_tokens', [0, maxTokens])
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(tokens && { maxTokens: Math.round(tokens) }),
  }
}

/** Reads a prompt: its text, the settings of the model, and the confidence of recognitions. */
export const readPrompt = (section: Section, format: PomFormat): AgentPrompt => {
  const confidence = section.number('confidence', [0, 1])
  const bargeConfidence = section.number('barge_confidence', [0, 1])
  return {
    text: promptText(section, format),
    settings: modelSettings(section),
    ...(confidence !== undefined && { confidence }),
    ...(bargeConfidence !== undefined && { bargeConfidence }),
  }
}
