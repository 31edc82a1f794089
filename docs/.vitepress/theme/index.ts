/** The default theme with the fonts of the system. */
import theme from 'vitepress/theme-without-fonts'

export default theme
