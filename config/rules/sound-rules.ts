import type { Report } from '../faults.ts'
import type { FileConfig } from '../file.ts'
import { type Entry, unique } from './unique.ts'

/** Keys that apply to one kind of engine only. */
const ofKind = { openai: ['model', 'key', 'format'], template: ['method', 'headers', 'body'] } as const

/** Checks the rules of `media.speech` beyond the schema. */
export const checkSound = ({ media }: FileConfig, report: Report): void => {
  const { engines, voices } = media.speech
  const at = ['media', 'speech']
  unique(
    engines.map(({ name }, i): Entry => [name, [...at, 'engines', i, 'name']]),
    report,
  )
  engines.forEach((engine, i) => {
    const keys = [...at, 'engines', i]
    if (engine.name === 'built-in') report([...keys, 'name'], 'is the name of the built-in voice')
    const other = engine.kind === 'openai' ? 'template' : 'openai'
    for (const key of ofKind[other]) {
      if (engine[key] !== undefined) report([...keys, key], `has a meaning only with the kind ${other}`)
    }
    if (engine.kind === 'openai' && engine.model === undefined) report([...keys, 'model'], 'is missing')
    if (/\{\{/.test(hostOf(engine.url))) report([...keys, 'url'], 'must not have a placeholder in its host')
    const asked = `${engine.url} ${engine.method === 'GET' ? '' : (engine.body ?? '')}`
    if (engine.kind === 'template' && !/\{\{\s*text\s*\}\}/.test(asked))
      report(keys, 'must have {{text}} in its url, or in the body of a POST')
  })
  for (const [name, { engine }] of Object.entries(voices)) {
    if (engine === 'built-in' || engines.some((each) => each.name === engine)) continue
    report([...at, 'voices', name, 'engine'], 'is neither built-in nor the name of an engine')
  }
}

/** Returns the host with user, password and port, which documents must not control. */
const hostOf = (url: string): string => /^[a-z]+:\/*([^/?#\\]*)/i.exec(url)?.[1] ?? ''
