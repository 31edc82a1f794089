import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventActions } from './event-actions.ts'
import { eventsIn, loggedEvents } from './events.ts'
import { pages } from './pages.ts'

const written = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')

it.each(Object.entries(pages))(
  'docs/%s is up to date with the code (else run scripts/document)',
  async (name, page) => {
    expect(written(name)).toBe(await page())
  },
)

describe('the page of log events', () => {
  const found = (source: string) => eventsIn('gateway/x.ts', source)

  it('has the key, level, message and fields of a call', () => {
    const call =
      "log.warn({ event: 'call.rejected', code, ...facts, ...(trunk && { trunk: 1 }) }, 'call rejected')"
    expect(found(call)).toEqual([
      {
        key: 'call.rejected',
        levels: ['warn'],
        messages: ['call rejected'],
        fields: ['code', 'trunk'],
      },
    ])
  })

  it('has both keys of a conditional event, and “…” for values in messages', () => {
    const message = `\`port \${b} changed\``
    const call = `this.#log[level]({ event: a ? 'a.opened' : 'a.closed' }, ${message})`
    expect(found(call).map(({ key, levels, messages }) => [key, levels, messages])).toEqual([
      ['a.opened', ['by code'], ['port … changed']],
      ['a.closed', ['by code'], ['port … changed']],
    ])
  })

  it('refers to the catalogue of codes if the message comes from the catalogue', () => {
    const call = "log.info({ event: 'call.ended', code }, catalogue[code].text)"
    expect(found(call)[0]?.messages).toEqual(['*the meaning of `code`*'])
  })

  it('leaves out calls without an event', () => {
    expect(found("log.info('started')\nlog.info({ code }, 'started')")).toEqual([])
  })

  it('has an action for every event at error and fatal', () => {
    const severe = loggedEvents().filter(({ levels }) =>
      levels.some((level) => /^(error|fatal)$/.test(level)),
    )
    expect(severe.map(({ key }) => key).filter((key) => !(key in eventActions))).toEqual([])
  })

  it('has actions for events that exist', () => {
    const keys = new Set(loggedEvents().map(({ key }) => key))
    expect(Object.keys(eventActions).filter((key) => !keys.has(key))).toEqual([])
  })
})
