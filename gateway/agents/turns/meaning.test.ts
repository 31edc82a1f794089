import { describe, expect, it } from 'vitest'
import { meaningOf } from './meaning.ts'

describe('meaning of a text', () => {
  it.each([
    ['I would like to book a table.', 'complete'],
    ['Do you open on Sunday?', 'complete'],
    ['no thanks', 'complete'],
    ['yes', 'complete'],
    ['I would like to book a table', 'open'],
    ['Hello.', 'open'],
    ['A table for 4.', 'open'],
    ['At half past 10', 'open'],
    ['I was born in 2026', 'open'],
    ['My number is.', 'unfinished'],
    ['I want to come on Friday and', 'unfinished'],
    ['Well,', 'unfinished'],
    ['I think...', 'unfinished'],
    ['My number is 0171', 'dictation'],
    ['My number is 0 1 7.', 'dictation'],
    ['zero one', 'dictation'],
    ['it is zero one seven one', 'dictation'],
    ['B A R', 'dictation'],
    ['030 123456', 'dictation'],
    ['', 'open'],
  ])('%j is %s', (text, meaning) => {
    expect(meaningOf(text, 'en-US')).toBe(meaning)
  })

  it.each([
    ['Meine Nummer lautet', 'de', 'unfinished'],
    ['null eins sieben', 'de-DE', 'dictation'],
    ['Nein danke', 'de', 'complete'],
    ['Mi número es', 'es', 'unfinished'],
    ['au revoir', 'fr', 'complete'],
    ['et mon numéro est', 'fr', 'unfinished'],
  ])('%j in %s is %s', (text, language, meaning) => {
    expect(meaningOf(text, language)).toBe(meaning)
  })
})
