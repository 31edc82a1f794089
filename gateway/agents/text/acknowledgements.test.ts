import { describe, expect, it } from 'vitest'
import { isAcknowledgement } from './acknowledgements.ts'

describe('acknowledgement', () => {
  it.each([
    ['Uh-huh.', 'en'],
    ['Mm-hm', 'en-US'],
    ['mhm', undefined],
    ['Yeah, right.', 'en'],
    ["That's right", 'en'],
    ['OK', 'multi'],
    ['Ja, genau.', 'de'],
    ['Ach so', 'de-AT'],
    ['Sí, vale', 'es'],
    ["D'accord", 'fr'],
    ['tout à fait', 'fr'],
    ['ja okay', undefined],
    ['oui', 'pt'],
  ])('is %j in %s', (text, language) => {
    expect(isAcknowledgement(text, language)).toBe(true)
  })

  it.each([
    ['', 'en'],
    ['...', 'en'],
    ['no', 'en'],
    ['stop', 'en'],
    ['right now', 'en'],
    ['yeah but wait', 'en'],
    ['yes yes yes yes yes yes', 'en'],
    ['nein', 'de'],
    ['genau', 'en'],
    ['home', undefined],
  ])('is not %j in %s', (text, language) => {
    expect(isAcknowledgement(text, language)).toBe(false)
  })
})
