import type { AgentRewrite } from '../../../handlers/verbs.ts'
import { canInsert, compilePattern, type Effort, newEffort } from './pattern.ts'
import { isWordCharacter } from './words.ts'

/** Rewriting of a text. `onLimit`: called if some of it was not made, as it would be too much work. */
export type Rewriter = (text: string, onLimit?: () => void) => string

/** Result of {@link compileRewrites}. */
export interface CompiledRewrites {
  readonly rewrite: Rewriter
  /** Patterns that are not supported, and have no effect. */
  readonly ignored: readonly string[]
}

const isWordAt = (text: string, at: number): boolean => isWordCharacter(text[at] ?? ' ')

/** Whether a text at a position is a whole word, where the text to replace begins or ends with a word. */
const isWhole = (text: string, at: number, word: string): boolean => {
  const end = at + word.length
  const isCutBefore = isWordAt(word, 0) && isWordAt(text, at - 1)
  const isCutAfter = isWordAt(word, word.length - 1) && isWordAt(text, end)
  return !isCutBefore && !isCutAfter
}

/** Lower case of each character that keeps its length, so that positions stay the same. */
const folded = (text: string): string => {
  const lower = text.toLowerCase()
  if (lower.length === text.length) return lower
  return [...text].map((c) => (c.toLowerCase().length === c.length ? c.toLowerCase() : c)).join('')
}

/** Replaces a plain text where it stands as whole words. */
const replaceWords = (
  text: string,
  { replace, with: by, ignoreCase }: AgentRewrite,
  effort: Effort,
): string => {
  if (replace === '') return text
  const subject = ignoreCase ? folded(text) : text
  const word = ignoreCase ? folded(replace) : replace
  const parts: string[] = []
  let done = 0
  for (let at = subject.indexOf(word); at >= 0; at = subject.indexOf(word, at)) {
    if (isWhole(subject, at, word)) {
      if (!canInsert(by, effort)) break
      parts.push(text.slice(done, at), by)
      at += word.length
      done = at
    } else at++
  }
  return parts.join('') + text.slice(done)
}

/** Applies one rule, with the work that is left for all. */
type Apply = (text: string, effort: Effort) => string

const rewriterOf = (rule: AgentRewrite): Apply | undefined => {
  if (!rule.isPattern) return (text, effort) => replaceWords(text, rule, effort)
  const pattern = compilePattern(rule.replace, rule.ignoreCase)
  return pattern && ((text, effort) => pattern.replace(text, rule.with, effort))
}

/**
 * Prepares a document's rewriting of spoken or recognised text: its rules apply one after another. Plain
 * texts are replaced as whole words, patterns as {@link compilePattern} reads them, each in linear time. The
 * text in place of a match is plain: groups are not given on. All rules share one {@link Effort} for each
 * text: a rule may match what another one has inserted, so texts could grow without an end.
 */
export const compileRewrites = (rules: readonly AgentRewrite[]): CompiledRewrites => {
  const compiled = rules.map((rule) => ({ rule, apply: rewriterOf(rule) }))
  const ignored = compiled.filter(({ apply }) => !apply).map(({ rule }) => rule.replace)
  const rewrite: Rewriter = (text, onLimit) => {
    const effort = newEffort()
    const rewritten = compiled.reduce((result, { apply }) => apply?.(result, effort) ?? result, text)
    if (effort.isExceeded) onLimit?.()
    return rewritten
  }
  return { rewrite, ignored }
}
