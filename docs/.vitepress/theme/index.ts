/** The default theme with the fonts of the system, and a page of its own for unknown addresses. */
import { withBase } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import './site.css'

const notFound = () =>
  h('main', { class: 'not-found' }, [
    h('h1', 'Page not found'),
    h('p', 'This version of the documentation has no page at this address. Search for its topic above.'),
    h('a', { href: withBase('/') }, 'Go to the start page of the documentation'),
  ])

export default {
  extends: theme,
  // The default page has no landmark.
  Layout: () => h(theme.Layout, null, { 'not-found': notFound }),
}
