import { closest } from '../../handlers/common/spelling.ts'
import { misplaced, type Report } from '../faults.ts'
import type { FileConfig } from '../file-config.ts'
import { type Entry, unique } from './unique.ts'

/** Keys that apply to one kind of engine only. */
const keysOfKind = { openai: ['model', 'key', 'format'], template: ['method', 'headers', 'body'] } as const

/** Checks the rules of `media.speech` beyond the schema. */
export const checkSound = ({ media }: FileConfig, report: Report): void => {
  const { engines, voices } = media.speech
  const at = ['media', 'speech']
  unique(
    'engine',
    engines.map(({ name }, i): Entry => [name, [...at, 'engines', i, 'name']]),
    report,
  )
  engines.forEach((engine, i) => {
    const keys = [...at, 'engines', i]
    if (engine.name === 'built-in')
      report([...keys, 'name'], 'must not be built-in, the name of the built-in engine')
    const other = engine.kind === 'openai' ? 'template' : 'openai'
    for (const key of keysOfKind[other]) {
      if (engine[key] !== undefined)
        report([...keys, key], `is permitted only if kind is ${other}`, misplaced)
    }
    if (engine.kind === 'openai' && engine.model === undefined)
      report([...keys, 'model'], 'is required if kind is openai')
    if (/\{\{/.test(hostOf(engine.url))) report([...keys, 'url'], 'must not have a placeholder in the host')
    const request = `${engine.url} ${engine.method === 'GET' ? '' : (engine.body ?? '')}`
    if (engine.kind === 'template' && !/\{\{\s*text\s*\}\}/.test(request))
      report(keys, 'must have {{text}} in url, or in the body of a POST')
  })
  for (const [name, { engine }] of Object.entries(voices)) {
    if (engine === 'built-in' || engines.some((each) => each.name === engine)) continue
    const near = closest(
      engine,
      engines.map((each) => each.name),
    )
    const hint = near && `did you mean \`${near}\`?`
    report([...at, 'voices', name, 'engine'], 'must be built-in or the name of an engine', {
      code: 'unknown-name',
      hint,
      quote: true,
    })
  }
}

/** Returns the host with user, password and port, which documents must not control. */
const hostOf = (url: string): string => /^[a-z]+:\/*([^/?#\\]*)/i.exec(url)?.[1] ?? ''
