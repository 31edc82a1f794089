import { expect, it } from 'vitest'
import { readPosition } from './read-position.ts'

it.each(['auto', 'off-canvas', 'playback', 'full-screen', 'standard-1', 'standard-100', 'reserved-2'])(
  'the position %s is known',
  (name) => expect(readPosition(name)).toBe(name),
)

it.each(['', 'standard', 'standard-0', 'standard-01', 'standard-1000', 'standard-1x', 'Auto', 'presenter'])(
  'the position "%s" is unknown',
  (name) => expect(readPosition(name)).toBeUndefined(),
)
