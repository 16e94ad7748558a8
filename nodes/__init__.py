"""The nodes of the methods: shared ones here, what one method alone has in its folder."""
