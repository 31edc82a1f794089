import { describe, expect, it } from 'vitest'
import { shownName } from './shown-name.ts'

const asGuest = (name: string, isPhone = true) => shownName({ name, isPhone }, true)

describe('the name of a telephone', () => {
  it.each([
    ['+4930123456', '+4930***56'],
    ['+15550100123', '+1555***23'],
    ['030 / 12 34-56', '030***56'],
    ['1234567', '1***67'],
    ['Ann (+49 30 123456)', 'Ann +4930***56'],
    ['101', 'Phone'],
    ['*97', 'Phone'],
    ['Room 101', 'Room 101'],
    ['Ann', 'Ann'],
    ['Anonymous', 'Anonymous'],
  ])('%s is %s for a guest', (name, shown) => {
    expect(asGuest(name)).toBe(shown)
  })

  it('is whole for a subscriber', () => {
    expect(shownName({ name: '+4930123456', isPhone: true }, false)).toBe('+4930123456')
  })
})

it('the name of a page is whole for all', () => {
  expect(asGuest('007 4930123456', false)).toBe('007 4930123456')
})
