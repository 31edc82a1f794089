import { describe, expectTypeOf, it } from 'vitest'
import type { FileConfig } from '../file-config.ts'
import type { Config } from '../types.ts'
import { choice, duration, flag, format, group, integer, list, map, object, text } from './builders.ts'
import type { FileValue, LoadedValue } from './values.ts'

const schema = group('Cache.', {
  kind: choice('Kind.', ['memory', 'disk'], 'memory'),
  folder: format('file-path', 'Folder.'),
  size: format('size', 'Size.'),
  timeout: duration('Timeout.', '5s'),
  keep: format('age', 'Retention time.'),
  on: flag('Whether it is used.', true),
  address: { type: ['string', 'array'], items: format('ip', 'Address.'), default: '::' },
  names: map('Names.', integer('Number.', 0, 9), {}),
  entries: list('Entries.', object('Entry.', { id: text('Id.'), note: text('Note.') }, ['id'])),
})

describe('the types of a schema', () => {
  it('are texts for durations, ages and sizes of the file', () => {
    expectTypeOf<FileValue<typeof schema>>().toEqualTypeOf<{
      readonly kind: 'memory' | 'disk'
      readonly folder?: string
      readonly size?: string
      readonly timeout: string
      readonly keep?: string
      readonly on: boolean
      readonly address: string | readonly string[]
      readonly names: Readonly<Record<string, number>>
      readonly entries?: readonly { readonly id: string; readonly note?: string }[]
    }>()
  })

  it('are numbers for durations, ages and sizes after loading', () => {
    expectTypeOf<LoadedValue<typeof schema>>().toEqualTypeOf<{
      readonly kind: 'memory' | 'disk'
      readonly folder?: string
      readonly size?: number
      readonly timeoutMs: number
      readonly keepMs?: number
      readonly on: boolean
      readonly address: readonly string[]
      readonly names: Readonly<Record<string, number>>
      readonly entries?: readonly { readonly id: string; readonly note?: string }[]
    }>()
  })

  it('have no misspelt key', () => {
    type Sip = Config['sip']
    expectTypeOf<Sip>().toHaveProperty('dialNetworks')
    // @ts-expect-error: the key is dialNetworks
    expectTypeOf<Sip>().toHaveProperty('dialNetwork')
    // @ts-expect-error: a duration ends in Ms
    expectTypeOf<Config>().toHaveProperty('drain')
    // @ts-expect-error: a duration of the file does not end in Ms
    expectTypeOf<FileConfig>().toHaveProperty('drainMs')
  })
})

describe('the builders of schemas', () => {
  it('reject a required key that the object does not have', () => {
    // @ts-expect-error: the key is id
    object('Entry.', { id: text('Id.') }, ['ID'])
  })

  it('reject an unknown format', () => {
    // @ts-expect-error: the format is duration
    format('durations', 'Timeout.')
  })

  it('reject a default that is none of the choices', () => {
    // @ts-expect-error: the choices are on and off
    choice('Switch.', ['on', 'off'], 'of')
  })
})
