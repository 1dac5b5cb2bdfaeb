import {
  ActionIcon,
  Button,
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  Modal,
  type VariantColorsResolver,
} from '@mantine/core';
import type { CalendarAriaLabels } from '@mantine/dates';

// The colors come from the tokens of web/kit. Mantine requires ten shades and uses them only where no variable below is set.
const accent: MantineColorsTuple = [
  '#eef3ff',
  '#dde6fb',
  '#b9cbf3',
  '#93aeeb',
  '#7295e4',
  '#5d85e0',
  '#3d63c4',
  '#2f53b0',
  '#27479b',
  '#1b3a86',
];

const variants: VariantColorsResolver = (input) => {
  const { variant, color } = input;
  const isDestructive = color === 'red';
  const [mainColor, tint] = isDestructive ? ['var(--danger)', 'var(--danger-background)'] : ['var(--accent)', 'var(--accent-background)'];
  if (color !== undefined && color !== 'accent' && !isDestructive) return defaultVariantColorsResolver(input);
  if (variant === 'filled')
    return {
      background: mainColor,
      hover: isDestructive ? mainColor : 'var(--accent-hover)',
      color: 'var(--on-accent)',
      border: '1px solid transparent',
    };
  if (variant === 'light') return { background: tint, hover: tint, color: mainColor, border: '1px solid transparent' };
  if (variant === 'subtle') return { background: 'transparent', hover: tint, color: mainColor, border: '1px solid transparent' };
  return defaultVariantColorsResolver(input);
};

/** Names of the buttons with an arrow. The button between them is named by its text, such as "November 2026". */
const calendarLabels: CalendarAriaLabels = {
  previousMonth: 'Previous month',
  nextMonth: 'Next month',
  previousYear: 'Previous year',
  nextYear: 'Next year',
  previousDecade: 'Previous decade',
  nextDecade: 'Next decade',
};

export const theme = createTheme({
  respectReducedMotion: true,
  primaryColor: 'accent',
  colors: { accent },
  primaryShade: { light: 6, dark: 4 },
  variantColorResolver: variants,
  fontFamily: 'inherit',
  headings: { fontFamily: 'inherit', fontWeight: '650' },
  fontSizes: { xs: 'var(--type-13)', sm: 'var(--type-15)', md: 'var(--type-15)', lg: 'var(--type-17)', xl: 'var(--type-22)' },
  radius: { sm: 'var(--radius-6)', md: 'var(--radius-6)', lg: 'var(--radius-10)' },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  components: {
    Button: Button.extend({ defaultProps: { size: 'sm' } }),
    // A dialog's header must not be a landmark of the page.
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' }, attributes: { header: { role: 'none' } } } }),
    // DatePickerInput.extend would load @mantine/dates on pages without a calendar, too.
    DatePickerInput: { defaultProps: { ariaLabels: calendarLabels } },
    DateTimePicker: { defaultProps: { ariaLabels: calendarLabels } },
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', size: 'lg', color: 'gray' } }),
  },
});

const tokenVariables = {
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-bright': 'var(--text)',
  '--mantine-color-dimmed': 'var(--muted)',
  '--mantine-color-placeholder': 'var(--muted)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--danger)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--raised)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--line)',
  '--mantine-color-gray-light-color': 'var(--muted)',
  '--mantine-primary-color-filled': 'var(--accent)',
  '--mantine-primary-color-filled-hover': 'var(--accent-hover)',
  '--mantine-primary-color-light': 'var(--accent-background)',
  '--mantine-primary-color-light-hover': 'var(--accent-background)',
  '--mantine-primary-color-light-color': 'var(--accent)',
  '--mantine-primary-color-contrast': 'var(--on-accent)',
  '--mantine-color-accent-filled': 'var(--accent)',
  '--mantine-color-accent-light': 'var(--accent-background)',
  '--mantine-color-accent-light-color': 'var(--accent)',
};

const darkTokenVariables = {
  ...tokenVariables,
  '--mantine-color-dark-4': 'var(--control-line)',
  '--mantine-color-dark-5': 'var(--raised)',
  '--mantine-color-dark-6': 'var(--raised)',
  '--mantine-color-dark-7': 'var(--surface)',
};

/** Sets Mantine's color variables to the tokens of web/kit, which handle light and dark themselves. */
export const colorVariables: CSSVariablesResolver = () => ({ variables: {}, light: tokenVariables, dark: darkTokenVariables });
