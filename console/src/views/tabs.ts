import { button, element, setText, show } from '../dom.ts'
import { type Icon, icon } from '../icons.ts'
import type { View } from './view.ts'

/** Tabs of the page. `phone` is a tab only on a narrow page; otherwise it is always visible. */
export type Tab = 'phone' | 'people' | 'recents' | 'chats' | 'settings'

const tabs: readonly (readonly [Tab, string, Icon])[] = [
  ['phone', 'Phone', 'keypad'],
  ['people', 'People', 'people'],
  ['recents', 'Calls', 'clock'],
  ['chats', 'Messages', 'chat'],
  ['settings', 'Settings', 'gear'],
]

/** Creates the navigation between tabs. `count` is the number of pending items of a tab. */
export const tabsView = (
  current: () => Tab,
  choose: (tab: Tab) => void,
  count: (tab: Tab) => number,
): View => {
  const made = tabs.map(([tab, name, picture]) => {
    const mark = element('span', { class: 'count' })
    const view = button(
      { class: `tab tab-${tab}`, 'data-testid': `tab-${tab}` },
      () => choose(tab),
      icon(picture),
      element('span', {}, name),
      mark,
    )
    return { tab, name, mark, view }
  })
  return {
    element: element(
      'nav',
      { class: 'tabs', 'aria-label': 'Main navigation' },
      ...made.map(({ view }) => view),
    ),
    update() {
      for (const { tab, name, mark, view } of made) {
        const waiting = count(tab)
        if (tab === current()) view.setAttribute('aria-current', 'page')
        else view.removeAttribute('aria-current')
        view.setAttribute('aria-label', waiting > 0 ? `${name}, ${waiting} new` : name)
        setText(mark, waiting > 0 ? String(waiting) : '')
        show(mark, waiting > 0)
      }
    },
  }
}
