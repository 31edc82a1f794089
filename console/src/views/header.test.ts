import { afterEach, expect, it, vi } from 'vitest'
import { phoneRig } from '../testing/fakes.ts'
import { headerView } from './header.ts'

/** Part of an element that the views use. */
class FakeElement {
  readonly name: string
  readonly attributes = new Map<string, string>()
  readonly dataset: Record<string, string> = {}
  children: (FakeElement | string)[] = []
  disabled = false

  constructor(name: string) {
    this.name = name
  }
  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value)
  }
  append(...children: (FakeElement | string)[]): void {
    this.children.push(...children)
  }
  addEventListener(): void {}

  find(fits: (element: FakeElement) => boolean): FakeElement | undefined {
    if (fits(this)) return this
    for (const child of this.children) {
      const found = typeof child === 'string' ? undefined : child.find(fits)
      if (found) return found
    }
    return undefined
  }
}

afterEach(() => vi.unstubAllGlobals())

it('the text Online is the label of the switch, and can be clicked', async () => {
  vi.stubGlobal('document', { createElement: (name: string) => new FakeElement(name) })
  const { phone } = await phoneRig()
  const account = { token: 't', email: 'a@b.c', address: '/public/alice', name: 'Alice' }
  const actions = { setOnline: () => {}, signOut: () => {} }
  const header = headerView(account, phone, actions).element as unknown as FakeElement
  const label = header.find(({ name }) => name === 'label')
  const toggle = header.find(({ attributes }) => attributes.get('role') === 'switch')
  expect(label?.children).toEqual(['Online'])
  expect(label?.attributes.get('for')).toBeDefined()
  expect(label?.attributes.get('for')).toBe(toggle?.attributes.get('id'))
})
