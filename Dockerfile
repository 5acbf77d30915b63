# One image for every process of the Procfile: the command chooses which. Built in a stage that has the compilers, run in one
# that has neither them nor root.
FROM node:22-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY tools/setup.mjs ./tools/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --omit=optional --no-audit --no-fund

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json /app/package-lock.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/ops ./ops
COPY --from=build /app/tools ./tools
COPY --from=build /app/dist ./dist
COPY --from=build /app/public ./public
USER node
EXPOSE 8080
CMD ["node", "--max-semi-space-size=64", "dist/processes/web.js"]
