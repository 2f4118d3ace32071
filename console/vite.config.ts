import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressFiles } from './compress-files.ts';

const api = { target: 'http://127.0.0.1:8080', ws: true };

export default defineConfig({
  plugins: [react(), tailwindcss(), compressFiles()],
  server: { proxy: { '/api': api, '/auth': api, '/idp': api } },
  build: {
    target: 'es2023',
    // The content security policy allows no data: fonts and no inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Few files instead of one per icon; the emulator and the charts load with the pages that need them.
          groups: [
            { name: 'libraries', test: /node_modules[\\/](?!@xterm|uplot)/ },
            { name: 'shared', test: /console[\\/]src[\\/](api|ui|format|live|theme)[\\/]|sdk[\\/]src[\\/]/ },
          ],
        },
      },
    },
  },
});
