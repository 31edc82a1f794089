import type { AgentLanguage } from '../../../../handlers/verbs.ts'

/**
 * Returns the engine's name of a document's voice `engine.voice` or `engine.voice:model`; undefined if it
 * names another engine or none.
 */
export const voiceNameOf = (language: AgentLanguage | undefined, engine: string): string | undefined => {
  const [voice = ''] = (language?.voice ?? '').split(':')
  return voice.startsWith(`${engine}.`) ? voice.slice(engine.length + 1) || undefined : undefined
}

/**
 * Returns the primary subtag of the only language to speak, such as `de` of `de-AT`. Returns undefined if
 * the caller may choose.
 */
export const onlyLanguageOf = (languages: readonly AgentLanguage[]): string | undefined => {
  const code = languages.length === 1 ? languages[0]?.code : undefined
  return code === undefined || code === 'multi' ? undefined : code.split('-')[0]?.toLowerCase()
}
